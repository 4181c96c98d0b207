/** Configuration from the view of an operator: defaults, file, variables, and one sentence for each mistake. */
import test from '#test'
import { ConfigInvalid, formsUrl, loadConfig, oauthUrls, pagesUrl, publicUrl } from '#config/settings/load.ts'
import { printConfig } from '#config/settings/print.ts'
import { defaults } from '#config/settings/setting-list.ts'

type Env = Record<string, string>

const adminKey = `svckey_${'Ab3_-'.repeat(9)}`
const masterKey = Buffer.alloc(32, 7)

function load(env: Env, files: Record<string, string> = {}) {
  return loadConfig({
    env,
    readFile(path) {
      const text = files[path]
      if (text === undefined) throw Object.assign(new Error('missing'), { code: 'ENOENT' })
      return text
    },
  })
}

const file = (content: unknown) => [{ POSTERN_CONFIG: 'c.json' }, { 'c.json': JSON.stringify(content) }] as const

function problems(env: Env, files: Record<string, string> = {}): readonly string[] {
  try {
    load(env, files)
  } catch (error) {
    if (error instanceof ConfigInvalid) return error.problems
    throw error
  }
  return []
}

test('loadConfig() starts without file and variables', (t) => {
  const config = load({ PATH: '/bin', POSTERNER: 'x' })
  t.deepEqual(config.http.listen, { host: '127.0.0.1', port: 8080 })
  t.deepEqual(config.submission.listen, [
    { host: '127.0.0.1', port: 2525 },
    { host: '127.0.0.1', port: 2587 },
  ])
  t.deepEqual(config.submission.implicitTlsListen, [{ host: '127.0.0.1', port: 2465 }])
  t.deepEqual(config.mx.listen, [{ host: '127.0.0.1', port: 2526 }])
  t.is(config.submission.cleartextAuth, 'auto')
  t.is(config.submission.maxMessageBytes, 26214400)
  t.is(config.plan, 'enterprise')
  t.is(config.adminKey, null)
  t.true(config.dataDir.startsWith('/'), 'a later change of the working folder must not move the data')
  t.regex(config.smtpHost, /^[a-z0-9.-]+$/)
})

test('loadConfig(): variables override the file, and the file overrides defaults', (t) => {
  const content = { logLevel: 'warn', submission: { maxRecipients: 7, idleSeconds: 301 } }
  const config = load({ POSTERN_CONFIG: 'c.json', POSTERN_SUBMISSION_MAX_RECIPIENTS: '8' }, { 'c.json': JSON.stringify(content) })
  t.is(config.logLevel, 'warn')
  t.is(config.submission.maxRecipients, 8)
  t.is(config.submission.idleSeconds, 301)
  t.is(config.submission.sessionSeconds, 600)
})

test('loadConfig() reads every variable of the contract', (t) => {
  const config = load({
    POSTERN_DATA_DIR: '/var/lib/postern',
    POSTERN_HTTP_LISTEN: '[::1]:0',
    POSTERN_SUBMISSION_LISTEN: '127.0.0.1:0, [::]:587',
    POSTERN_SUBMISSIONS_LISTEN: '0.0.0.0:465',
    POSTERN_MX_LISTEN: '',
    POSTERN_BASE_URL: 'https://Mail.Example.org/',
    POSTERN_INBOUND_DOMAIN: 'In.Example.org',
    POSTERN_SMTP_HOST: 'mail.example.org',
    POSTERN_ADMIN_KEY: adminKey,
    POSTERN_MASTER_KEY: masterKey.toString('hex'),
    POSTERN_TLS_CERT: '/c.pem',
    POSTERN_TLS_KEY: '/k.pem',
    POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1:2600, [fd00::/8]:587,fd00::/8,[::1]:25;webhooks=127.0.0.1/32',
    POSTERN_SUBMISSION_CLEARTEXT_AUTH: 'loopback',
    POSTERN_DNS_SERVERS: '127.0.0.1:5353,::1',
    POSTERN_LOG_LEVEL: 'debug',
    POSTERN_TRUST_PROXY: '127.0.0.1,::1',
    POSTERN_PLAN: 'free',
    POSTERN_DELIVERY_RETRY_SECONDS: '1,2,3',
    POSTERN_DELIVERY_JITTER: '0.05',
  })
  t.is(config.dataDir, '/var/lib/postern')
  t.deepEqual(config.http.listen, { host: '::1', port: 0 })
  t.deepEqual(config.submission.listen, [
    { host: '127.0.0.1', port: 0 },
    { host: '::', port: 587 },
  ])
  t.deepEqual(config.submission.implicitTlsListen, [{ host: '0.0.0.0', port: 465 }])
  t.deepEqual(config.mx.listen, [])
  t.is(config.baseUrl, 'https://mail.example.org')
  t.is(config.inboundDomain, 'in.example.org')
  t.is(config.smtpHost, 'mail.example.org')
  t.is(config.adminKey, adminKey)
  t.deepEqual(config.masterKey, new Uint8Array(masterKey))
  t.deepEqual(config.tls, { certificateFile: '/c.pem', keyFile: '/k.pem' })
  t.deepEqual(config.outbound.allow, {
    destinations: [
      { cidr: '127.0.0.1/32', port: 2600 },
      { cidr: 'fd00::/8', port: 587 },
      { cidr: 'fd00::/8' },
      { cidr: '::1/128', port: 25 },
    ],
    webhooks: [{ cidr: '127.0.0.1/32' }],
  })
  t.is(config.submission.cleartextAuth, 'loopback')
  t.deepEqual(config.outbound.dnsServers, ['127.0.0.1:5353', '[::1]:53'])
  t.is(config.logLevel, 'debug')
  t.deepEqual(config.http.trustProxy, ['127.0.0.1', '::1'])
  t.is(config.plan, 'free')
  t.deepEqual(config.delivery.retrySeconds, [1, 2, 3])
  t.is(config.delivery.jitter, 0.05)
})

test('loadConfig(): returns a frozen configuration', (t) => {
  const config = load({})
  t.throws(() => Object.assign(config.submission, { maxRecipients: 1 }), { instanceOf: TypeError })
  t.throws(() => Object.assign(config.http.listen, { port: 1 }), { instanceOf: TypeError })
  t.throws(() => (config.mx.listen as unknown[]).push(1), { instanceOf: TypeError })
})

test('loadConfig() reads the master key from a file', (t) => {
  const env = { POSTERN_MASTER_KEY_FILE: '/key' }
  t.deepEqual(load(env, { '/key': `${masterKey.toString('base64')}\n` }).masterKey, new Uint8Array(masterKey))
  t.deepEqual(problems(env), ['POSTERN_MASTER_KEY_FILE: /key cannot be read (ENOENT); check the path and its permissions.'])
  t.regex(problems(env, { '/key': 'short' }).join(), /^POSTERN_MASTER_KEY_FILE: \/key must contain 32 random bytes/)
})

test('loadConfig(): suggests the nearest name for an unknown variable', (t) => {
  t.deepEqual(problems({ POSTERN_HTTP_LISTN: '127.0.0.1:1' }), ['POSTERN_HTTP_LISTN is not a setting; did you mean POSTERN_HTTP_LISTEN?'])
  t.deepEqual(problems({ POSTERN_COLOUR_OF_THE_WALL: 'x' }), [
    'POSTERN_COLOUR_OF_THE_WALL is not a setting; remove it, or see config/settings.md for all settings.',
  ])
})

test('loadConfig(): suggests the nearest name for an unknown key of the file', (t) => {
  const [env, files] = file({ submission: { maxRecipient: 5 }, delivery: { x: 1 }, constructor: 1 })
  const said = problems(env, files)
  t.is(said[0], 'submission.maxRecipient in c.json is not a setting; did you mean maxRecipients?')
  t.regex(said[1] ?? '', /^delivery\.x in c\.json is not a setting; valid names here are retrySeconds, /)
  t.regex(said[2] ?? '', /^constructor in c\.json is not a setting; /)
  t.is(said.length, 3)
})

test('loadConfig(): reports each invalid setting by the name in use', (t) => {
  const env = { POSTERN_CONFIG: 'c.json', POSTERN_HTTP_LISTEN: '8080', POSTERN_SUBMISSION_LISTEN: 'a,b', POSTERN_DELIVERY_JITTER: 'much' }
  const said = problems(env, { 'c.json': JSON.stringify({ submission: { maxRecipients: 0 }, mx: [], plan: 'gold' }) })
  t.is(said.length, 6)
  t.true(said.includes('submission.maxRecipients in c.json must be a whole number from 1 to 10000.'))
  t.true(said.includes('mx in c.json must be an object with listen, maxMessageBytes, maxConnections, maxConnectionsPerAddress.'))
  t.true(said.includes('plan in c.json must be one of anonymous, free, basic, pro, enterprise.'))
  t.true(said.includes('POSTERN_DELIVERY_JITTER must be a number from 0 to 0.5.'))
  t.is(said.filter((sentence) => sentence.startsWith('POSTERN_SUBMISSION_LISTEN must be a list')).length, 1)
  t.is(said.filter((sentence) => sentence.startsWith('POSTERN_HTTP_LISTEN must be an IP address')).length, 1)
})

test('loadConfig() refuses values of the wrong form', (t) => {
  const wrong: readonly [string, string][] = [
    ['POSTERN_HTTP_LISTEN', '127.0.0.1:65536'],
    ['POSTERN_HTTP_LISTEN', '::1:80'],
    ['POSTERN_HTTP_LISTEN', 'example.org:80'],
    ['POSTERN_HTTP_LISTEN', '127.1:80'],
    ['POSTERN_BASE_URL', 'ftp://example.org'],
    ['POSTERN_BASE_URL', 'https://example.org/path'],
    ['POSTERN_BASE_URL', 'https://user:word@example.org'],
    ['POSTERN_BASE_URL', 'example.org'],
    ['POSTERN_AUTH_URL', 'https://auth.example.org/oauth'],
    ['POSTERN_AUTH_URL', 'auth.example.org'],
    ['POSTERN_MCP_URL', 'https://mail.example.org/v1'],
    ['POSTERN_MCP_URL', 'https://mail.example.org/v1/'],
    ['POSTERN_MCP_URL', 'https://mail.example.org/mcp?x=1'],
    ['POSTERN_MCP_URL', 'https://mail.example.org/mcp#x'],
    ['POSTERN_MCP_URL', 'https://mail.example.org/a b'],
    ['POSTERN_MCP_URL', 'https://user@mail.example.org/mcp'],
    ['POSTERN_MCP_URL', 'mcp.example.org'],
    ['POSTERN_INBOUND_DOMAIN', '-a.example'],
    ['POSTERN_INBOUND_DOMAIN', 'a..example'],
    ['POSTERN_SMTP_HOST', 'mail example'],
    ['POSTERN_ADMIN_KEY', `svckey_${'a'.repeat(42)}`],
    ['POSTERN_ADMIN_KEY', `key_${'a'.repeat(60)}`],
    ['POSTERN_MASTER_KEY', Buffer.alloc(31).toString('base64')],
    ['POSTERN_MASTER_KEY', 'f'.repeat(62)],
    ['POSTERN_SUBMISSION_CLEARTEXT_AUTH', 'always'],
    ['POSTERN_DNS_SERVERS', 'dns.example'],
    ['POSTERN_DNS_SERVERS', '127.0.0.1:0'],
    ['POSTERN_TRUST_PROXY', '10.0.0.0/8'],
    ['POSTERN_OUTBOUND_ALLOW', '127.0.0.1/32'],
    ['POSTERN_OUTBOUND_ALLOW', 'destinations=127.0.0.300'],
    ['POSTERN_OUTBOUND_ALLOW', 'destinations=127.0.0.1/33'],
    ['POSTERN_OUTBOUND_ALLOW', 'destinations=127.0.0.1/32:0'],
    ['POSTERN_OUTBOUND_ALLOW', 'webhooks=127.0.0.1/32;webhooks=10.0.0.0/8'],
    ['POSTERN_SHUTDOWN_SECONDS', '-1'],
    ['POSTERN_SHUTDOWN_SECONDS', '1.5'],
    ['POSTERN_SHUTDOWN_SECONDS', '0x10'],
  ]
  for (const [name, value] of wrong) {
    const said = problems({ [name]: value })
    t.is(said.length, 1, `${name}=${value}`)
    t.true(said[0]?.startsWith(`${name} must be `), said[0])
  }
})

test('loadConfig(): reports unknown classes in POSTERN_OUTBOUND_ALLOW', (t) => {
  t.deepEqual(problems({ POSTERN_OUTBOUND_ALLOW: 'webhook=127.0.0.1/32' }), [
    'webhook in POSTERN_OUTBOUND_ALLOW is not a setting; did you mean webhooks?',
  ])
})

test('loadConfig() refuses settings that contradict each other', (t) => {
  t.deepEqual(problems({ POSTERN_TLS_CERT: '/c.pem' }), [
    'POSTERN_TLS_CERT and POSTERN_TLS_KEY belong together; set both, or none for a self-signed certificate.',
  ])
  t.deepEqual(problems({ POSTERN_MASTER_KEY: masterKey.toString('base64'), POSTERN_MASTER_KEY_FILE: '/key' }), [
    'POSTERN_MASTER_KEY and POSTERN_MASTER_KEY_FILE exclude each other; set one of them.',
  ])
  t.deepEqual(problems({ POSTERN_MX_LISTEN: '127.0.0.1:8080' }), [
    'POSTERN_MX_LISTEN contains 127.0.0.1:8080, which POSTERN_HTTP_LISTEN already contains. Set another port in one of them.',
  ])
  t.deepEqual(problems({ POSTERN_MX_LISTEN: '127.0.0.1:0', POSTERN_HTTP_LISTEN: '127.0.0.1:0' }), [])
})

test('loadConfig(): refuses a missing file, invalid JSON and other JSON types', (t) => {
  const env = { POSTERN_CONFIG: 'c.json' }
  t.deepEqual(problems(env), ['POSTERN_CONFIG: c.json cannot be read (ENOENT); check the path and its permissions.'])
  for (const text of ['', '[]', 'null', '{"a":', `{"adminKey": ${adminKey}}`]) {
    t.deepEqual(problems(env, { 'c.json': text }), [
      'POSTERN_CONFIG: c.json must contain one JSON object; see config/example.json for its form.',
    ])
  }
})

test('loadConfig() never repeats a secret in a message', (t) => {
  const env = { POSTERN_ADMIN_KEY: 'svckey_hush', POSTERN_MASTER_KEY: 'hush', POSTERN_LOG_LEVEL: 'hush' }
  t.notRegex(problems(env).join('\n'), /hush/)
})

test('publicUrl(): returns the setting, or the address of the HTTP listener', (t) => {
  const bound = { host: '::1', port: 41_000 }
  t.is(publicUrl(load({ POSTERN_BASE_URL: 'https://mail.example.org' }), bound), 'https://mail.example.org')
  t.is(publicUrl(load({}), bound), 'http://[::1]:41000')
  t.is(publicUrl(load({ POSTERN_SMTP_HOST: 'mail.example.org' }), { host: '0.0.0.0', port: 80 }), 'http://mail.example.org:80')
})

test('formsUrl(): returns the setting, or the public address', (t) => {
  const bound = { host: '127.0.0.1', port: 8080 }
  const env = { POSTERN_BASE_URL: 'https://mail.example.org' }
  t.is(formsUrl(load(env), bound), 'https://mail.example.org')
  t.is(formsUrl(load({ ...env, POSTERN_FORMS_URL: 'https://Forms.example.org/' }), bound), 'https://forms.example.org')
})

test('oauthUrls(): returns the settings, or addresses below the public one', (t) => {
  const bound = { host: '127.0.0.1', port: 8080 }
  const base = 'https://mail.example.org'
  t.deepEqual(oauthUrls(load({ POSTERN_BASE_URL: base }), bound), { issuer: base, resources: { mcp: `${base}/mcp`, rest: `${base}/v1` } })
  const env = { POSTERN_BASE_URL: base, POSTERN_AUTH_URL: 'https://Auth.example.org/', POSTERN_MCP_URL: 'https://Agents.example.org/mail/' }
  t.deepEqual(oauthUrls(load(env), bound), {
    issuer: 'https://auth.example.org',
    resources: { mcp: 'https://agents.example.org/mail', rest: `${base}/v1` },
  })
  t.is(oauthUrls(load({ POSTERN_MCP_URL: 'https://mcp.example.org/' }), bound).resources.mcp, 'https://mcp.example.org')
})

test('printConfig(): masks secrets and prints valid configuration otherwise', (t) => {
  const env = { POSTERN_ADMIN_KEY: adminKey, POSTERN_MASTER_KEY: masterKey.toString('base64'), POSTERN_OUTBOUND_ALLOW: 'webhooks=::1/128' }
  const text = printConfig(load(env))
  t.false(text.includes(adminKey))
  t.false(text.includes(masterKey.toString('base64').slice(0, 20)))
  t.false(text.includes(masterKey.toString('base64url').slice(0, 20)))
  const shown: unknown = JSON.parse(text)
  t.like(shown, { adminKey: '********', masterKey: '********', outbound: { allow: { webhooks: ['::1/128'] } } })
  const plain = printConfig(load({}))
  t.deepEqual(printConfig(load({ POSTERN_CONFIG: 'c.json' }, { 'c.json': plain })), plain)
})

test('loadConfig(): the example equals the defaults', (t) => {
  const [env, files] = file(defaults)
  t.deepEqual(load(env, files), load({}))
})

test('pagesUrl(): uses localhost for a loopback listener unless an address is set', (t) => {
  const at = (host: string, environment: Record<string, string> = {}): string => pagesUrl(load(environment), { host, port: 8080 })
  t.is(at('127.0.0.1'), 'http://localhost:8080')
  t.is(at('::1'), 'http://localhost:8080')
  t.is(at('192.0.2.7'), 'http://192.0.2.7:8080')
  t.is(at('127.0.0.1', { POSTERN_BASE_URL: 'http://127.0.0.1:8080' }), 'http://127.0.0.1:8080')
  t.is(at('127.0.0.1', { POSTERN_BASE_URL: 'https://mail.example.org' }), 'https://mail.example.org')
  t.is(at('127.0.0.1', { POSTERN_AUTH_URL: 'https://auth.example.org' }), 'https://auth.example.org')
})

test('loadConfig(): ACME needs agreed terms and a listener for the challenge', (t) => {
  const terms = 'POSTERN_ACME_CHALLENGE needs POSTERN_ACME_TERMS=agreed, once you have read the terms of the certificate authority.'
  t.deepEqual(problems({ POSTERN_ACME_CHALLENGE: 'http-01' }), [terms])
  const agreed = { POSTERN_ACME_TERMS: 'agreed', POSTERN_ACME_CHALLENGE: 'tls-alpn-01' }
  t.deepEqual(problems(agreed), [
    'POSTERN_ACME_CHALLENGE=tls-alpn-01 needs the HTTPS listener; set POSTERN_HTTPS_LISTEN, such as 0.0.0.0:443.',
  ])
  t.deepEqual(problems({ ...agreed, POSTERN_HTTPS_LISTEN: '0.0.0.0:443', POSTERN_ACME_EAB_KEY_ID: 'kid' }), [
    'POSTERN_ACME_EAB_KEY_ID and POSTERN_ACME_EAB_KEY belong together; set both, or none if the certificate authority needs no external account.',
  ])
  t.deepEqual(problems({ ...agreed, POSTERN_HTTPS_LISTEN: '0.0.0.0:443', POSTERN_TLS_CERT: '/c', POSTERN_TLS_KEY: '/k' }), [
    'POSTERN_TLS_CERT and POSTERN_ACME_CHALLENGE exclude each other. Set one of them: your own certificate, or one ordered by ACME.',
  ])
  t.deepEqual(problems({ ...agreed, POSTERN_ACME_CHALLENGE: 'http-01', POSTERN_ACME_LISTEN: '' }), [
    'POSTERN_ACME_CHALLENGE=http-01 needs POSTERN_ACME_LISTEN; set an address such as 0.0.0.0:80.',
  ])
  t.deepEqual(problems({ POSTERN_HTTPS_LISTEN: '127.0.0.1:8080' }), [
    'POSTERN_HTTPS_LISTEN contains 127.0.0.1:8080, which POSTERN_HTTP_LISTEN already contains. Set another port in one of them.',
  ])
  t.regex(problems({ POSTERN_ACME_DIRECTORY: 'http://acme.example.org' })[0] ?? '', /^POSTERN_ACME_DIRECTORY must be an https address/)
  const config = load({ ...agreed, POSTERN_HTTPS_LISTEN: '[::]:443', POSTERN_ACME_EAB_KEY_ID: 'kid', POSTERN_ACME_EAB_KEY: 'A'.repeat(43) })
  t.is(config.acme.directoryUrl, 'https://acme-v02.api.letsencrypt.org/directory')
  t.notRegex(printConfig(config), /AAAA/)
})
