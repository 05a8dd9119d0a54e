package config

import (
	"fmt"

	"sendonce/ledger"
)

// Recipe makes dedupe keys. In a file it is the name of a shipped recipe or a section with all four settings.
type Recipe struct {
	Name      string   `koanf:"name"`
	Fields    []string `koanf:"fields"`
	Separator string   `koanf:"separator"`
	Length    int      `koanf:"length"`
}

// shippedRecipes may be named without saying what they are.
func shippedRecipes() []ledger.Recipe {
	return []ledger.Recipe{ledger.RecipeEvent(), ledger.RecipeTypeUserEvent()}
}

// UnmarshalText takes the name of a shipped recipe.
func (r *Recipe) UnmarshalText(text []byte) error {
	for _, s := range shippedRecipes() {
		if s.Name == string(text) {
			*r = Recipe(s)
			return nil
		}
	}
	return fmt.Errorf("must be event, type-user-event, or a section with name, fields, separator and length")
}

// shipped reports whether the recipe is one of ours.
func (r Recipe) shipped() bool {
	for _, s := range shippedRecipes() {
		if s.Name == r.Name {
			return true
		}
	}
	return false
}
