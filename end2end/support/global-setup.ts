import { optionalSetting, setting } from "./env";
import { record, startRun } from "./secrets";

/** Starts a run's record with what the seed made; tests add what they mint. */
export default function globalSetup() {
  startRun();
  record("password", setting("DEMO_PASSWORD"));
  record("password", optionalSetting("KEYSTONE_ADMIN_PASSWORD"));
  record("totp secret", optionalSetting("TOTP_SECRET_MIA"));
}
