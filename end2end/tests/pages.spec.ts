// Every page of the program, in each of its states, in light and dark, narrow and wide.
import { expect, takeComplaints, test } from "../support/browser";
import { createUser, deleteUser } from "../support/keystone";
import { check, examine, ofTheBrowser, podThatRuns, Viewers } from "../support/page-check";
import { casesOf, gatewayPages } from "../support/page-states";
import { routes } from "../support/routes";
import { unique } from "../support/workloads";

/** A user whom Keystone knows, and who has no role anywhere. */
const withoutRole = { name: unique("without-role"), password: `pass-${unique("word")}` };
let withoutRoleId: string;
const viewers = new Viewers(withoutRole);
// every page is photographed in each state anyway, and a trace of it all would take twice as long
test.use({ trace: "off" });
// the longest file: all workers share it
test.describe.configure({ mode: "parallel" });

test.beforeAll(async () => {
  withoutRoleId = await createUser(withoutRole.name, withoutRole.password);
});
test.afterAll(() => deleteUser(withoutRoleId));

test("every page of the route table has its states here", async () => {
  const table = await routes();
  expect(table.map(({ name }) => name).sort()).toEqual(Object.keys(casesOf("pod")).sort());
});

for (const [route, cases] of Object.entries(casesOf("POD"))) {
  test(`page ${route}`, async ({ browser }) => {
    test.setTimeout(60_000 + cases.length * 30_000);
    const pod = await podThatRuns();
    for (const [index, wanted] of cases.entries()) {
      const name = `${route}-${index + 1}-${wanted.state}`;
      await test.step(`${name} for ${wanted.user}`, async () => {
        const context = await viewers.contextOf(browser, wanted.user);
        const page = await context.newPage();
        await check(page, name, { ...wanted, path: wanted.path.replace("POD", pod) });
        await page.close();
      });
    }
  });
}

for (const { name, path, user } of gatewayPages) {
  test(`page of the gateway: ${name}`, async ({ browser, page: anonymous }) => {
    const page = user ? await (await viewers.contextOf(browser, user)).newPage() : anonymous;
    takeComplaints(page.context());
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await examine(page, `gateway-${name}`);
    const complaints = takeComplaints(page.context()).filter((text) => !ofTheBrowser.test(text));
    expect.soft(complaints).toEqual([]);
  });
}

test("answers carry the headers that keep pages safe", async ({ browser }) => {
  const page = await (await viewers.contextOf(browser, "vera")).newPage();
  const answer = await page.goto("/");
  const headers = answer?.headers() ?? {};
  expect(headers["content-security-policy"]).toMatch(/script-src [^;]*'nonce-/);
  expect(headers["content-security-policy"]).not.toMatch(/'unsafe-(inline|eval)'|\*/);
  expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  expect(headers["x-content-type-options"]).toBe("nosniff");
  expect(headers["cache-control"]).toContain("no-store");
});

test("the browser speaks HTTP/2", async ({ browser }) => {
  const page = await (await viewers.contextOf(browser, "vera")).newPage();
  await page.goto("/");
  const protocol = await page.evaluate(() => {
    const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    return entry?.nextHopProtocol;
  });
  expect(protocol).toBe("h2");
});
