// Copies the pictures that the documentation shows from the last run's screenshots: `npm run pictures --workspace end2end`.
import { copyFileSync, mkdirSync } from "node:fs";
import path from "node:path";

const from = path.join(import.meta.dirname, "screenshots");
const to = path.join(import.meta.dirname, "../docs/images");
const pictures = {
  "launchpad.png": "launchpad-1-full-light-1440.png",
  "workload.png": "object-8-full-light-1440.png",
  "access.png": "access-1-full-light-1440.png",
};

mkdirSync(to, { recursive: true });
for (const [name, screenshot] of Object.entries(pictures)) copyFileSync(path.join(from, screenshot), path.join(to, name));
