// The program's own table of pages (`portico routes`), so that a page that no test covers is noticed.
import { setting } from "./env";
import { run } from "./kubectl";

export interface Route {
  name: string;
  path: string;
  title: string;
}

export async function routes(): Promise<Route[]> {
  const { code, stdout, stderr } = await run(setting("PORTICO_BIN"), ["routes"]);
  if (code !== 0) throw new Error(`portico routes: ${stderr}`);
  return JSON.parse(stdout) as Route[];
}
