/** All settings of Postern with description, limit and default. */
import { fraction, listOf, oneOf, optionalWritten, section, whole, wholes, written } from './fields.ts'
import { address, adminKey, addressLines, destinationId, dnsList, dnsServer, emailAddress, endpoint, hostName, mailbox } from './formats.ts'
import { operatorWords } from './operator-words.ts'
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
const networksLimit = 'a list of at most 64 networks such as 10.0.0.0/8, 127.0.0.1/32:2600 or [fd00::/8]:587'
const spfLimit =
  'a list of at most 64 SPF mechanisms such as include:_spf.example.net, a:mail.example.net, ip4:192.0.2.1 or ip6:2001:db8::/32'
const dnsServersLimit = 'a list of at most 64 IP addresses, each with or without a port, such as 192.0.2.53 or [2001:db8::53]:5353'
const dnsListsLimit =
  'a list of at most 64 DNS lists, each as ip or domain, major or minor (whether mail is refused for it) and the zone, such as ip/major/zen.spamhaus.org'
const hostNameLimit = 'a host name of letters, digits, hyphens and dots'
const pathLimit = 'the path of a file'

const http = section({
  listen: written(
    { description: 'Address of the HTTP side: REST API, pages for people, health and metrics.', limit: endpointLimit },
    endpoint,
    '127.0.0.1:8080',
  ),
  tlsListen: optionalWritten(
    {
      description:
        'Address of the HTTP side inside TLS, with the certificate of the SMTP listeners. In production, port 443 of a public address, where no reverse proxy is. Without it, there is no such listener.',
      limit: endpointLimit,
    },
    endpoint,
  ),
  maxBodyBytes: whole(
    'Largest body of a request, in bytes. A larger one is refused with 413.',
    mebibyte / 16,
    256 * mebibyte,
    36 * mebibyte,
  ),
  maxConnections: whole('Most HTTP connections at a time.', 1, 1_000_000, 10_000),
  maxConnectionsPerAddress: whole(
    'Most HTTP connections at a time from one client address (an IPv6 /64 counts as one); behind a trusted proxy, most requests. Does not apply to loopback and to trusted proxies themselves.',
    1,
    100_000,
    500,
  ),
  trustProxy: listOf(
    {
      description:
        'Reverse proxies whose X-Forwarded-For gives the address of the client, as exact addresses. Empty: the field is ignored.',
      limit: 'a list of at most 64 IP addresses, without ranges and names',
    },
    address,
    [],
  ),
})

const submission = section({
  listen: listOf(
    { description: 'Addresses for SMTP submission with STARTTLS (RFC 6409 §3.1). Empty: no such listener.', limit: endpointsLimit },
    endpoint,
    ['127.0.0.1:2525', '127.0.0.1:2587'],
  ),
  implicitTlsListen: listOf(
    { description: 'Addresses for SMTP submission inside TLS (RFC 8314 §3.3). Empty: no such listener.', limit: endpointsLimit },
    endpoint,
    ['127.0.0.1:2465'],
  ),
  cleartextAuth: oneOf(
    'Who may log in without TLS. never: no one. loopback: clients on a loopback address. auto: the same clients, on loopback listeners other than ports 587 and 2587, while the certificate is the self-signed one.',
    ['never', 'loopback', 'auto'],
    'auto',
  ),
  maxMessageBytes: whole('Largest message, by SMTP and REST, in bytes (RFC 1870 §4).', mebibyte / 16, 256 * mebibyte, 25 * mebibyte),
  maxRecipients: whole('Most recipients of one message.', 1, 10_000, 500),
  maxConnections: whole('Most sessions at a time, over all listeners.', 1, 100_000, 1000),
  maxConnectionsPerAddress: whole('Most sessions at a time from one client address (an IPv6 /64 counts as one).', 1, 100_000, 50),
  sessionSeconds: whole(
    'Longest time that a session may last without a message that is accepted, in seconds. Then the client is asked to connect again.',
    10,
    24 * hour,
    600,
  ),
  idleSeconds: whole(
    'Longest silence of a client, in seconds (at least 300, RFC 5321 §4.5.3.2.7). While over three quarters of the connections are in use, it is 30.',
    300,
    hour,
    300,
  ),
  authFailuresPerSession: whole('Failed logins after which a session ends.', 1, 20, 3),
})

const mx = section({
  listen: listOf(
    {
      description:
        'Addresses for mail from other servers (RFC 5321): bounces, inbound routes, deliverability tests and the postmaster. In production, port 25 of a public address. Empty: no such listener.',
      limit: endpointsLimit,
    },
    endpoint,
    ['127.0.0.1:2526'],
  ),
  maxMessageBytes: whole(
    'Largest message from another server, in bytes (RFC 1870 §4); bounces can return a whole message.',
    mebibyte / 16,
    256 * mebibyte,
    40 * mebibyte,
  ),
  maxConnections: whole('Most sessions with other servers at a time, over all listeners.', 1, 100_000, 200),
  maxConnectionsPerAddress: whole('Most sessions at a time from one server address (an IPv6 /64 counts as one).', 1, 100_000, 20),
})

const inspect = section({
  domain: optionalWritten(
    {
      description:
        'Domain of the addresses of deliverability tests. Its MX record must lead to mx.listen. By default the inbound domain; without either, there are no such tests.',
      limit: hostNameLimit,
    },
    hostName,
  ),
  dnsLists: listOf(
    {
      description:
        'Block lists that deliverability tests query for addresses and domains. Most are free for a small number of queries, and answer only to a name server of your own. Empty: none is queried.',
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
    'Whether deliverability tests fetch the MTA-STS policy of the From domain from its server, over https. never: the policy is not known and does not count.',
    ['never', 'fetch'],
    'never',
  ),
})

const imap = section({
  caFile: optionalWritten(
    {
      description:
        'PEM file with certificates that are trusted for polled mailboxes, beside those of public authorities. Without it, only those are.',
      limit: pathLimit,
    },
    path,
  ),
})

const allow = section(
  {
    destinations: listOf(
      {
        description: 'Loopback and private networks in which destinations and polled mailboxes may be. Empty: none.',
        limit: networksLimit,
      },
      network,
      [],
    ),
    webhooks: listOf(
      { description: 'Loopback and private networks in which webhooks may be, there also over http. Empty: none.', limit: networksLimit },
      network,
      [],
    ),
  },
  'lists of networks by class, as in destinations=127.0.0.1/32:2600,10.0.0.0/8;webhooks=127.0.0.1/32',
)

const outbound = section({
  allow: allow.prefault({}),
  dnsServers: listOf({ description: 'DNS servers to query. Empty: those of the system.', limit: dnsServersLimit }, dnsServer, []),
  spf: listOf(
    {
      description:
        'SPF mechanisms of the hosts from which mail leaves (RFC 7208 §5), shown among the records that sending domains should publish. Empty: none.',
      limit: spfLimit,
    },
    spfMechanism,
    [],
  ),
})

const delivery = section({
  retrySeconds: wholes(
    'Waits before the second and each further attempt. The last one repeats until the message is too old.',
    'seconds',
    1,
    48 * hour,
    [60, 300, 900, 1800, hour, 2 * hour, 4 * hour],
  ),
  unknownRetrySeconds: whole(
    'Shortest wait before an attempt whose outcome is unknown is repeated, in seconds. The receiving server may have the message already.',
    1,
    48 * hour,
    900,
  ),
  maxAgeHours: whole('Age at which a message that could not be delivered fails, in hours.', 1, 168, 48),
  jitter: fraction('Share by which each wait is made longer or shorter at random. 0: not at all.', 0, 0.5, 0.2),
  connectionsPerDestination: whole('Most connections at a time to a destination without max_connections of its own.', 1, 1000, 10),
  connectionsTotal: whole(
    'Most outgoing connections at a time. One project gets at most nine tenths of them, one destination at most three quarters.',
    1,
    10_000,
    200,
  ),
  memoryBudgetBytes: whole(
    'Memory for messages from their acceptance to their first attempt, in bytes. Messages beyond it are read from disk.',
    0,
    4096 * mebibyte,
    32 * mebibyte,
  ),
})

const systemMail = section({
  destination: optionalWritten(
    {
      description:
        'Live destination of the first organization through which sign-in links, invitations and notices are sent. Without it, none are sent, and postern login-link makes sign-in links.',
      limit: 'the id of a destination, such as dst_0193…',
    },
    destinationId,
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
      description: 'Who issues invoices: name, address and VAT number, which stand below each other on them.',
      limit: 'up to 8 lines with semicolons between them, such as Example AG; Bahnhofstrasse 1; 8001 Zürich',
    },
    addressLines,
  ),
  paymentDays: whole('Days from the issue of an invoice to the day on which it is due.', 0, 365, 30),
})

/** Schema of the configuration file. Its output is the result of `loadConfig`. */
export const schema = section({
  dataDir: written(
    { description: 'Folder of everything that Postern stores. It is made when it does not exist.', limit: 'the path of a folder' },
    path,
    './data',
  ),
  user: optionalWritten(
    {
      description:
        'Name of the user that a start as root becomes, with its groups, once ports below 1024 are bound. The data folder must belong to that user. Not needed where systemd or a container starts Postern.',
      limit: 'the name of a user of this system, such as postern',
    },
    userName,
  ),
  baseUrl: optionalOrigin(
    'mail',
    'Public address of the HTTP side. By default http:// and the address on which it listens; one-click unsubscribe and the tracking of clicks and openings need an https address here.',
  ),
  authUrl: optionalOrigin(
    'auth',
    'Public address of the authorization server (OAuth 2.1) and of the pages for people, which the HTTP side serves. By default the base URL.',
  ),
  formsUrl: optionalOrigin(
    'forms',
    'Public address of the pages of forms, which the HTTP side serves under /f/. By default the base URL; a host of its own keeps what others design away from the pages for people.',
  ),
  mcpUrl: optionalWritten(
    {
      description:
        'Public address of the MCP endpoint for agents, and so the audience of its access tokens. Its path is served on the HTTP side. By default /mcp at the base URL.',
      limit: 'an http or https address with any path but /v1, such as https://mail.example.org/mcp',
    },
    mcpAddress,
  ),
  inboundDomain: optionalWritten(
    {
      description:
        'Domain of return paths (VERP), inbound routes, postmaster@ and abuse@. Its MX record must lead to mx.listen. Without it, there are no inbound routes, and return paths only at bounce domains of SMTP credentials.',
      limit: hostNameLimit,
    },
    hostName,
  ),
  smtpHost: optionalWritten(
    {
      description: 'Host name in SMTP greetings and Received headers (RFC 5321 §4.1.1.1). By default the name of the machine.',
      limit: hostNameLimit,
    },
    hostName,
  ),
  adminKey: optionalWritten(
    {
      description: 'API key with all scopes. Without it, one is made and printed at the first start.',
      limit: 'svckey_ followed by 43 to 128 letters, digits, hyphens and underscores',
      secret: true,
    },
    adminKey,
  ),
  operatorKey: optionalWritten(
    {
      description:
        'Key for /operator/v1, by which the operator sets plans, prices and flags of all organizations. Without it, these operations do not exist.',
      limit: 'svcop_ followed by 43 to 128 letters, digits, hyphens and underscores',
      secret: true,
    },
    operatorKey,
  ),
  operators: listOf(operatorWords, emailAddress, []),
  masterKey: optionalWritten(
    {
      description:
        'Key under which stored secrets are encrypted. Without it and masterKeyFile, one is made in the data folder at the first start.',
      limit: '32 random bytes in base64, base64url or hexadecimal (openssl rand -base64 32 makes some)',
      secret: true,
    },
    masterKey,
  ),
  masterKeyFile: optionalWritten(
    { description: 'File with the master key, in place of masterKey. When it is missing, the daemon does not start.', limit: pathLimit },
    path,
  ),
  inboxNotifySecret: optionalWritten(
    {
      description: 'Secret that signs the notifications of all virtual inboxes. Without it, each inbox has its own signing_secret.',
      limit: '32 to 256 visible ASCII characters',
      secret: true,
    },
    sharedSecret,
  ),
  plan: oneOf('Plan of the first organization when the first start creates it. Later the operator changes it.', planNames, 'enterprise'),
  signUp: oneOf(
    'Who may become a user. closed: whoever gets a link from postern login-link. invited: also whoever is invited to an organization. open: anybody.',
    ['closed', 'invited', 'open'],
    'invited',
  ),
  systemMail: systemMail.prefault({}),
  ...log,
  shutdownSeconds: whole('Longest time from SIGTERM to the end of the process, in seconds.', 1, 600, 30),
  drainSeconds: whole(
    'So long after SIGTERM everything goes on while /readyz answers 503, in seconds: for a balancer to send no more. Comes before shutdownSeconds.',
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
