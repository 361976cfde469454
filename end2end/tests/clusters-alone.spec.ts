// Clusters while Keystone is stopped. No other test runs meanwhile.
import { test } from "../support/browser";
import { continuesWithout } from "../support/cluster-faults";
import { createTenant, hasMagnum, removeTenant, type Tenant } from "../support/tenant";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");
test.setTimeout(180_000);

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});
test.afterAll(() => removeTenant(tenant));

test("a page of a creation shows that keystone is gone, and continues when it is back", async ({ page }) => {
  await continuesWithout("keystone", page, tenant);
});
