// Renews the front-end files that others wrote: fetches the packages that vendor.json names from npm, in the versions that stand
// there, and writes the files, their sums and their licences. To take a newer version, write it there and run `make assets`.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const here = import.meta.dirname;
const list = JSON.parse(readFileSync(join(here, "vendor.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "assets-"));
const licences = new Map();
try {
  for (const entry of list) {
    const name = `${entry.package}@${entry.version}`;
    const archive = execFileSync("npm", ["pack", "--silent", name], { cwd: folder, encoding: "utf8" }).trim();
    const read = (path) => execFileSync("tar", ["-xOzf", archive, `package/${path}`], { cwd: folder });
    const content = read(entry.from);
    entry.licence = JSON.parse(read("package.json")).license ?? entry.licence;
    entry.sha256 = createHash("sha256").update(content).digest("hex");
    writeFileSync(join(here, "static", entry.file), content);
    licences.set(name, read("LICENSE").toString());
  }
} finally {
  rmSync(folder, { recursive: true });
}
const lines = list.map((entry) => "  " + JSON.stringify(entry).replaceAll('":', '": ').replaceAll(',"', ', "'));
writeFileSync(join(here, "vendor.json"), `[\n${lines.join(",\n")}\n]\n`);
const texts = [...licences].map(([name, text]) => `== ${name} ==\n\n${text.trim()}\n`);
writeFileSync(join(here, "static", "licences.txt"), texts.join("\n"));
