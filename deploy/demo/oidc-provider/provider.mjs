// A real OpenID Provider (npm's certified oidc-provider) for the demo and for tests, in memory, on this machine only.
//
//   MODULES=…/node_modules node provider.mjs PORT NAME CLIENTS
//
// PORT 0 takes a free one; the first line of the output is "ready ISSUER". CLIENTS is a JSON list of registrations.
// Users: see `users`; the password is NAME-pw. ACCESS_TTL sets the life of access tokens in seconds.
// Tests steer it: POST /test/control takes JSON (see `control`), GET /test/events lists what happened.
import { createServer, request as send } from 'node:http';
import { randomBytes } from 'node:crypto';
import { pathToFileURL } from 'node:url';

const modules = process.env.MODULES;
const load = (path) => import(pathToFileURL(`${modules}/${path}`).href);
const { Provider, errors } = await load('oidc-provider/lib/index.js');
const jose = await load('jose/dist/webapi/index.js');

const [, , port = '0', name = 'Corp', clients = '[]'] = process.argv;
const ttl = Number(process.env.ACCESS_TTL || 300);

const users = {
  alice: { groups: ['k8s-admins', 'ops'], roles: ['operator'], email: 'alice@example.test', name: 'Alice A.', email_verified: true },
  bob: { groups: ['developers'], roles: [], email: 'bob@example.test', name: 'Bob B.', email_verified: true },
  carol: { groups: [], roles: [], email: 'carol@example.test', name: 'Carol C.', email_verified: false },
};

const control = {
  // how long the token endpoint thinks before it looks at a request
  tokenDelay: 0,
  // how long a refresh token that was used once can be used again
  reuseGrace: 0,
  // the token endpoint answers with this error
  tokenError: null,
  // the subject that a refreshed ID token names
  refreshAs: null,
  // where back-channel logout really goes, when the gateway's public address is not where it listens
  backchannel: null,
};

const events = [];
const note = (type, data) => {
  events.push({ at: Date.now(), type, ...data });
  if (events.length > 5000) events.shift();
};

// the interface of oidc-provider's adapters, with a grace for used tokens
const rows = new Map();
const grants = new Map();
class Memory {
  constructor(model) {
    this.model = model;
  }
  key(id) {
    return `${this.model}:${id}`;
  }
  async upsert(id, payload, expiresIn) {
    const key = this.key(id);
    rows.set(key, { payload, until: expiresIn ? Date.now() + expiresIn * 1000 : Infinity });
    if (payload.uid) rows.set(`uid:${this.model}:${payload.uid}`, { payload: id, until: Infinity });
    if (payload.grantId) grants.set(payload.grantId, [...(grants.get(payload.grantId) || []), key]);
  }
  async find(id) {
    const row = rows.get(this.key(id));
    return row && row.until > Date.now() ? row.payload : undefined;
  }
  async findByUid(uid) {
    const row = rows.get(`uid:${this.model}:${uid}`);
    return row && this.find(row.payload);
  }
  async findByUserCode() {
    return undefined;
  }
  async consume(id) {
    const row = rows.get(this.key(id));
    if (!row) return;
    const consume = () => { row.payload.consumed = Math.floor(Date.now() / 1000); };
    if (this.model === 'RefreshToken' && control.reuseGrace > 0) setTimeout(consume, control.reuseGrace).unref();
    else consume();
  }
  async destroy(id) {
    rows.delete(this.key(id));
  }
  async revokeByGrantId(grantId) {
    for (const key of grants.get(grantId) || []) rows.delete(key);
    grants.delete(grantId);
  }
}

const key = async (alg) => ({
  ...(await jose.exportJWK((await jose.generateKeyPair(alg, { extractable: true })).privateKey)),
  use: 'sig', alg, kid: `${alg}-${randomBytes(4).toString('hex')}`,
});

// a back-channel request by hand, since fetch sets no Host header
const backchannel = (url, options) => new Promise((resolve, reject) => {
  const target = new URL(url);
  const real = new URL(control.backchannel);
  const body = String(options.body);
  const call = send({
    host: real.hostname, port: real.port, path: target.pathname + target.search, method: 'POST',
    headers: { ...Object.fromEntries(new Headers(options.headers)), host: target.host, 'content-length': Buffer.byteLength(body) },
  }, async (answer) => {
    let text = '';
    for await (const chunk of answer) text += chunk;
    note('backchannel', { status: answer.statusCode });
    resolve(new Response(answer.statusCode === 204 ? null : text, { status: answer.statusCode }));
  });
  call.on('error', reject);
  call.end(body);
});

const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const page = (response, status, body) => {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
  response.end(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>${escape(name)}</title><main>${body}</main></html>`);
};
const form = async (request) => {
  let text = '';
  for await (const chunk of request) {
    text += chunk;
    if (text.length > 1e5) break;
  }
  return text;
};

const server = createServer();
server.listen(Number(port), '127.0.0.1', async () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    adapter: Memory,
    clients: JSON.parse(clients),
    jwks: { keys: [await key('RS256'), await key('ES256')] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    scopes: ['openid', 'offline_access', 'profile', 'email', 'groups'],
    claims: {
      openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'preferred_username'],
      groups: ['groups', 'roles'],
    },
    // claims of scopes stand in the ID token too, as most other providers do
    conformIdTokenClaims: false,
    responseTypes: ['code'],
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        async logoutSource(ctx, confirm) {
          ctx.body = `<!doctype html><html lang="en"><title>${escape(name)}: sign out</title><main><h1>Sign out of ${escape(name)}?</h1>${confirm.replace('</form>', '<input type="hidden" name="logout" value="yes"/><button>Sign out</button></form>')}</main></html>`;
        },
      },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      // a client that requests a token for an API gets a JWT (RFC 9068)
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: async (ctx, resource) => ({
          scope: '', audience: resource, accessTokenTTL: ttl, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } },
        }),
      },
      userinfo: { enabled: true },
    },
    extraTokenClaims: async (ctx, token) => (token.kind === 'ClientCredentials' ? { groups: ['ops'] } : undefined),
    pkce: { required: () => true },
    rotateRefreshToken: true,
    // its own guard refuses addresses of this machine
    fetch: (url, { dispatcher, ...options }) => (control.backchannel ? backchannel(url, options) : globalThis.fetch(url, options)),
    issueRefreshToken: async (ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    ttl: {
      AccessToken: ttl, IdToken: ttl, AuthorizationCode: 60, RefreshToken: 86400, Session: 86400, Grant: 86400,
      Interaction: 600,
    },
    async findAccount(ctx, id) {
      const refreshed = ctx.oidc?.params?.grant_type === 'refresh_token';
      const subject = (refreshed && control.refreshAs) || id;
      const user = users[id];
      return user && { accountId: subject, claims: async () => ({ ...user, preferred_username: id, sub: subject }) };
    },
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    // no consent screen
    async loadExistingGrant(ctx) {
      const { client, session, result } = ctx.oidc;
      const id = result?.consent?.grantId || session.grantIdFor(client.clientId);
      const grant = (id && await ctx.oidc.provider.Grant.find(id))
        || new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid offline_access profile email groups');
      grant.addOIDCClaims(['sub', 'email', 'email_verified', 'name', 'preferred_username', 'groups', 'roles']);
      await grant.save();
      return grant;
    },
  });
  provider.on('grant.success', (ctx) => note('grant', { grant: ctx.oidc.params.grant_type, client: ctx.oidc.client?.clientId }));
  provider.on('grant.error', (ctx, error) => note('grant.error', { grant: ctx.oidc?.params?.grant_type, error: error.error }));
  provider.on('grant.revoked', () => note('grant.revoked', {}));
  provider.on('end_session.success', () => note('end_session', {}));
  provider.on('backchannel.error', (ctx, error) => note('backchannel.error', { error: String(error) }));
  provider.on('server_error', (ctx, error) => note('server_error', { error: String(error) }));

  const endpoints = provider.callback();
  const answer = async (request, response) => {
    const path = request.url.split('?')[0];
    if (path === '/test/events') {
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify(events));
    }
    if (path === '/test/control' && request.method === 'POST') {
      const wanted = JSON.parse(await form(request));
      for (const [user, groups] of Object.entries(wanted.groups || {})) users[user].groups = groups;
      delete wanted.groups;
      Object.assign(control, wanted);
      return response.end('{}');
    }
    if (path === '/token') {
      if (control.tokenDelay) await new Promise((resolve) => { setTimeout(resolve, control.tokenDelay); });
      if (control.tokenError) {
        note('token.error', { error: control.tokenError });
        response.writeHead(control.tokenError === 'invalid_client' ? 401 : 400, { 'content-type': 'application/json' });
        return response.end(JSON.stringify({ error: control.tokenError, error_description: 'as the test wants' }));
      }
    }
    if (path.startsWith('/interaction/')) {
      const interaction = await provider.interactionDetails(request, response);
      if (interaction.prompt.name === 'consent') {
        return provider.interactionFinished(request, response, { consent: { grantId: interaction.grantId } }, { mergeWithLastSubmission: true });
      }
      if (request.method === 'POST') {
        const fields = new URLSearchParams(await form(request));
        if (fields.get('cancel')) {
          return provider.interactionFinished(request, response, { error: 'access_denied', error_description: '<b>the user</b> said no' });
        }
        const login = fields.get('login');
        if (users[login] && fields.get('password') === `${login}-pw`) {
          return provider.interactionFinished(request, response, { login: { accountId: login, amr: ['pwd'] } });
        }
        return page(response, 403, '<p>Wrong name or password.</p>');
      }
      return page(response, 200, `<h1>${escape(name)}</h1><form method="post"><p><label>Name <input name="login" autocomplete="username"></label></p><p><label>Password <input name="password" type="password"></label></p><button>Sign in</button> <button name="cancel" value="1">Cancel</button></form>`);
    }
    return endpoints(request, response);
  };
  server.on('request', (request, response) => {
    answer(request, response).catch((error) => {
      if (error instanceof errors.SessionNotFound) return page(response, 400, '<p>No such sign-in.</p>');
      note('error', { error: String(error) });
      console.error(error);
      if (!response.headersSent) page(response, 500, '<p>Error.</p>');
      return undefined;
    });
  });
  console.log(`ready ${issuer}`);
});
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
