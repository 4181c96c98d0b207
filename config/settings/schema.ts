/** All settings of Postern with description, limit and default. */
import { fraction, listOf, oneOf, optionalWritten, section, whole, wholes, written } from './fields.ts'
import { address, adminKey, addressLines, destinations, dnsList, dnsServer, emailAddress, endpoint, hostName, mailbox } from './formats.ts'
import { operatorsTexts } from './operators-setting.ts'
import { masterKey, mcpAddress, network, operatorKey, origin, path, sharedSecret, spfMechanism, userName } from './formats.ts'
import { doctor } from './doctor-settings.ts'
import { log, otlp } from './observability-settings.ts'
import { sendmail } from './sendmail-settings.ts'
import { store } from './store-settings.ts'
import { acme, tls } from './tls-settings.ts'
import { captcha, forms, sites, uploads } from './visitor-settings.ts'
import { planNames } from '../plans/plans.ts'

const mebibyte = 1024 * 1024
const hour = 3600

/** A public address of this service. */
const optionalOrigin = (name: string, description: string) =>
  optionalWritten({ description, limit: `an http or https address without a path, such as https://${name}.example.org` }, origin)

const endpointLimit = 'an IP address (IPv6 in brackets) or localhost, with a port, such as 127.0.0.1:8080 (port 0 picks a free one)'
const endpointsLimit = `a list of at most 64 entries, each ${endpointLimit}`
const networksLimit = 'a list of at most 64 networks such as 10.0.0.0/8, 127.0.0.1:2600 or [fd00::/8]:587'
const spfLimit =
  'a list of at most 64 SPF mechanisms such as include:_spf.example.net, a:mail.example.net, ip4:192.0.2.1 or ip6:2001:db8::/32'
const dnsServersLimit = 'a list of at most 64 IP addresses, each with or without a port, such as 192.0.2.53 or [2001:db8::53]:5353'
const dnsListsLimit =
  'a list of at most 64 DNS lists, each as ip or domain, major or minor (whether a listing refuses mail) and the zone, such as ip/major/zen.spamhaus.org'
const hostNameLimit = 'a host name of letters, digits, hyphens and dots'
const pathLimit = 'the path of a file'

const http = section({
  listen: written(
    { description: 'Address of the HTTP listener: REST API, web pages, health and metrics.', limit: endpointLimit },
    endpoint,
    '127.0.0.1:8080',
  ),
  tlsListen: optionalWritten(
    {
      description:
        'Address of the HTTPS listener, with the certificate of the SMTP listeners. In production without a reverse proxy, port 443 of a public address. Without it, there is no HTTPS listener.',
      limit: endpointLimit,
    },
    endpoint,
  ),
  maxBodyBytes: whole(
    'Maximum size of a request body, in bytes. Larger bodies are refused with 413.',
    mebibyte / 16,
    256 * mebibyte,
    36 * mebibyte,
  ),
  maxConnections: whole('Maximum number of concurrent HTTP connections.', 1, 1_000_000, 10_000),
  maxConnectionsPerAddress: whole(
    'Maximum number of concurrent HTTP connections from one client address (an IPv6 /64 counts as one address); behind a trusted proxy, of requests. Does not apply to loopback and to trusted proxies themselves.',
    1,
    100_000,
    500,
  ),
  trustProxy: listOf(
    {
      description: 'Exact addresses of reverse proxies that set the client address in X-Forwarded-For. Empty: the field is ignored.',
      limit: 'a list of at most 64 IP addresses, without ranges and names',
    },
    address,
    [],
  ),
})

const submission = section({
  listen: listOf(
    { description: 'Addresses for SMTP submission with STARTTLS (RFC 6409 §3.1). Empty: no listener.', limit: endpointsLimit },
    endpoint,
    ['127.0.0.1:2525', '127.0.0.1:2587'],
  ),
  implicitTlsListen: listOf(
    { description: 'Addresses for SMTP submission with implicit TLS (RFC 8314 §3.3). Empty: no listener.', limit: endpointsLimit },
    endpoint,
    ['127.0.0.1:2465'],
  ),
  cleartextAuth: oneOf(
    'Clients that may log in without TLS. never: no client. loopback: clients on a loopback address. auto: the same clients, on loopback listeners other than ports 587 and 2587, while the certificate is the self-signed one.',
    ['never', 'loopback', 'auto'],
    'auto',
  ),
  maxMessageBytes: whole(
    'Maximum size of a message by SMTP and REST, in bytes (RFC 1870 §4).',
    mebibyte / 16,
    256 * mebibyte,
    25 * mebibyte,
  ),
  maxRecipients: whole('Maximum number of recipients of a message.', 1, 10_000, 500),
  maxConnections: whole('Maximum number of concurrent sessions on all listeners.', 1, 100_000, 1000),
  maxConnectionsPerAddress: whole('Maximum number of concurrent sessions from one client address (or IPv6 /64).', 1, 100_000, 50),
  sessionSeconds: whole(
    'Maximum time of a session without an accepted message, in seconds. After it, the client must connect again.',
    10,
    24 * hour,
    600,
  ),
  idleSeconds: whole(
    'Timeout for an idle client, in seconds (at least 300, RFC 5321 §4.5.3.2.7). While more than three quarters of the connections are in use, it is 30.',
    300,
    hour,
    300,
  ),
  authFailuresPerSession: whole('Number of failed logins that ends a session.', 1, 20, 3),
})

const mx = section({
  listen: listOf(
    {
      description:
        'Addresses for mail from other servers (RFC 5321): bounces, inbound routes, deliverability tests and the postmaster. In production, port 25 of a public address. Empty: no listener.',
      limit: endpointsLimit,
    },
    endpoint,
    ['127.0.0.1:2526'],
  ),
  maxMessageBytes: whole(
    'Maximum size of a message from another server, in bytes (RFC 1870 §4). Bounces can return a whole message.',
    mebibyte / 16,
    256 * mebibyte,
    40 * mebibyte,
  ),
  maxConnections: whole('Maximum number of concurrent sessions with other servers on all listeners.', 1, 100_000, 200),
  maxConnectionsPerAddress: whole('Maximum number of concurrent sessions from one server address (or IPv6 /64).', 1, 100_000, 20),
})

const inspect = section({
  domain: optionalWritten(
    {
      description:
        'Domain for addresses of deliverability tests. Its MX record must point to mx.listen. By default, the inbound domain; without both, there are no deliverability tests.',
      limit: hostNameLimit,
    },
    hostName,
  ),
  dnsLists: listOf(
    {
      description:
        'Blocklists that deliverability tests query for addresses and domains. Most lists are free for a small number of queries, and respond only to your own name server. Empty: no lists.',
      limit: dnsListsLimit,
    },
    dnsList,
    [
      'ip/major/zen.spamhaus.org',
      'ip/minor/bl.spamcop.net',
      'ip/minor/b.barracudacentral.org',
      'ip/minor/psbl.surriel.com',
      'ip/minor/bl.mailspike.net',
      'domain/major/dbl.spamhaus.org',
      'domain/major/multi.surbl.org',
      'domain/minor/multi.uribl.com',
    ],
  ),
  mtaSts: oneOf(
    'Whether deliverability tests fetch the MTA-STS policy of the From domain from its server, over https. never: the tests ignore the policy.',
    ['never', 'fetch'],
    'never',
  ),
})

const imap = section({
  caFile: optionalWritten(
    {
      description: 'PEM file with additional trusted certificates for polled mailboxes. Public certificate authorities are always trusted.',
      limit: pathLimit,
    },
    path,
  ),
})

const allow = section(
  {
    destinations: listOf(
      {
        description: 'Loopback and private networks that destinations and polled mailboxes may use. Empty: no such networks.',
        limit: networksLimit,
      },
      network,
      [],
    ),
    webhooks: listOf(
      {
        description: 'Loopback and private networks that webhooks may use, also over http. Empty: no such networks.',
        limit: networksLimit,
      },
      network,
      [],
    ),
  },
  'lists of networks by class, as in destinations=127.0.0.1/32:2600,10.0.0.0/8;webhooks=127.0.0.1/32',
)

const outbound = section({
  allow: allow.prefault({}),
  dnsServers: listOf({ description: 'DNS servers to query. Empty: the DNS servers of the system.', limit: dnsServersLimit }, dnsServer, []),
  spf: listOf(
    {
      description:
        'SPF mechanisms of your outgoing mail servers (RFC 7208 §5). They are part of the records that sending domains should publish. Empty: no mechanisms.',
      limit: spfLimit,
    },
    spfMechanism,
    [],
  ),
})

const delivery = section({
  retrySeconds: wholes(
    'Delays before the second and each further attempt. The last delay repeats until the message expires.',
    'seconds',
    1,
    48 * hour,
    [60, 300, 900, 1800, hour, 2 * hour, 4 * hour],
  ),
  unknownRetrySeconds: whole(
    'Minimum delay after an attempt with an unknown outcome, in seconds. The receiving server may already have the message.',
    1,
    48 * hour,
    900,
  ),
  maxAgeHours: whole('Age of a message after which delivery fails permanently, in hours.', 1, 168, 48),
  jitter: fraction('Share of each delay that is added or subtracted at random. 0: delays are exact.', 0, 0.5, 0.2),
  connectionsPerDestination: whole('Maximum number of concurrent connections to a destination without max_connections.', 1, 1000, 10),
  connectionsTotal: whole(
    'Maximum number of concurrent outgoing connections. One project gets at most nine tenths of them, one destination at most three quarters.',
    1,
    10_000,
    200,
  ),
  memoryBudgetBytes: whole(
    'Memory for messages from their acceptance to their first attempt, in bytes. Further messages are read from disk.',
    0,
    4096 * mebibyte,
    32 * mebibyte,
  ),
})

const systemMail = section({
  destination: optionalWritten(
    {
      description:
        'Live destination of the first organization for sign-in links, invitations, notices and alerts, and up to two that take over when it fails, separated by commas. Without it, Postern sends no such mail, and postern login-link creates sign-in links.',
      limit: 'one to three different ids of destinations, such as dst_0193…, separated by commas',
    },
    destinations,
  ),
  from: optionalWritten(
    {
      description: 'Sender of sign-in links, invitations and notices. Required with systemMail.destination.',
      limit: 'a mail address, with or without a name',
    },
    mailbox,
  ),
})

const billing = section({
  vatBasisPoints: whole('VAT on invoices, in hundredths of a percent (810 is 8.1 %).', 0, 10_000, 0),
  issuer: optionalWritten(
    {
      description: 'Issuer of invoices: name, address and VAT number, each on a separate line.',
      limit: 'up to 8 lines with semicolons between them, such as Example AG; Bahnhofstrasse 1; 8001 Zürich',
    },
    addressLines,
  ),
  paymentDays: whole('Days from the issue of an invoice to its due date.', 0, 365, 30),
})

/** Schema of the configuration file. Its output is the result of `loadConfig`. */
export const schema = section({
  dataDir: written(
    { description: 'Folder for all data of Postern. Postern creates it if it does not exist.', limit: 'the path of a folder' },
    path,
    './data',
  ),
  user: optionalWritten(
    {
      description:
        'User that Postern switches to when started as root, with its groups, after it has bound ports below 1024. The data folder must belong to that user. Not needed with systemd or a container.',
      limit: 'the name of a user of this system, such as postern',
    },
    userName,
  ),
  baseUrl: optionalOrigin(
    'mail',
    'Public address of the HTTP listener. By default, http:// and the address of the listener. One-click unsubscribe and tracking of clicks and opens need an https address.',
  ),
  authUrl: optionalOrigin(
    'auth',
    'Public address of the authorization server (OAuth 2.1) and of the web pages, on the HTTP listener. By default, the base URL.',
  ),
  formsUrl: optionalOrigin(
    'forms',
    'Public address of the pages of forms, on the HTTP listener under /f/. By default, the base URL. A separate host name isolates the forms of tenants from the other web pages.',
  ),
  mcpUrl: optionalWritten(
    {
      description:
        'Public address of the MCP endpoint for agents, and the audience of its access tokens. The HTTP listener serves its path. By default, /mcp at the base URL.',
      limit: 'an http or https address with any path except /v1, such as https://mail.example.org/mcp',
    },
    mcpAddress,
  ),
  inboundDomain: optionalWritten(
    {
      description:
        'Domain of return paths (VERP), inbound routes, postmaster@ and abuse@. Its MX record must point to mx.listen. Without it, there are no inbound routes, and return paths exist only at bounce domains of SMTP credentials.',
      limit: hostNameLimit,
    },
    hostName,
  ),
  smtpHost: optionalWritten(
    {
      description: 'Host name in SMTP greetings and Received headers (RFC 5321 §4.1.1.1). By default, the name of the machine.',
      limit: hostNameLimit,
    },
    hostName,
  ),
  adminKey: optionalWritten(
    {
      description: 'API key with all scopes. Without it, the first start creates a key and prints it.',
      limit: 'svckey_ followed by 43 to 128 letters, digits, hyphens and underscores',
      secret: true,
    },
    adminKey,
  ),
  operatorKey: optionalWritten(
    {
      description:
        'Key of the operator for /operator/v1, which sets plans, prices and flags of all organizations. Without it, these operations do not exist.',
      limit: 'svcop_ followed by 43 to 128 letters, digits, hyphens and underscores',
      secret: true,
    },
    operatorKey,
  ),
  operators: listOf(operatorsTexts, emailAddress, []),
  masterKey: optionalWritten(
    {
      description: 'Key that encrypts stored secrets. Without it and masterKeyFile, the first start creates a key in the data folder.',
      limit: '32 random bytes in base64, base64url or hexadecimal (created by openssl rand -base64 32)',
      secret: true,
    },
    masterKey,
  ),
  masterKeyFile: optionalWritten(
    { description: 'File with the master key, instead of masterKey. If it is missing, the daemon does not start.', limit: pathLimit },
    path,
  ),
  inboxNotifySecret: optionalWritten(
    {
      description: 'Secret that signs the notifications of all virtual inboxes. Without it, each inbox has a separate signing_secret.',
      limit: '32 to 256 visible ASCII characters',
      secret: true,
    },
    sharedSecret,
  ),
  plan: oneOf('Plan of the first organization at the first start. Later, the operator can change it.', planNames, 'enterprise'),
  signUp: oneOf(
    'Who may sign up. closed: people with a link from postern login-link. invited: also people invited to an organization. open: anyone.',
    ['closed', 'invited', 'open'],
    'invited',
  ),
  systemMail: systemMail.prefault({}),
  ...log,
  shutdownSeconds: whole('Maximum time from SIGTERM to the end of the process, in seconds.', 1, 600, 30),
  drainSeconds: whole(
    'Time after SIGTERM with full service while /readyz returns 503, in seconds, so that a load balancer stops sending requests. shutdownSeconds starts after it.',
    0,
    300,
    0,
  ),
  http: http.prefault({}),
  submission: submission.prefault({}),
  mx: mx.prefault({}),
  imap: imap.prefault({}),
  inspect: inspect.prefault({}),
  captcha: captcha.prefault({}),
  uploads: uploads.prefault({}),
  forms: forms.prefault({}),
  sites: sites.prefault({}),
  tls: tls.prefault({}),
  acme: acme.prefault({}),
  outbound: outbound.prefault({}),
  sendmail: sendmail.prefault({}),
  doctor: doctor.prefault({}),
  otlp: otlp.prefault({}),
  delivery: delivery.prefault({}),
  store: store.prefault({}),
  billing: billing.prefault({}),
})
