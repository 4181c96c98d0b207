/** Settings in environment variables: the setting and the text form of each variable. */
import { closest } from '../texts/closest.ts'
import { isSection } from './setting-list.ts'

/**
 * Conversion of a variable to the value in the configuration file: unchanged, as a number, split at commas, or as
 * `destinations=…;webhooks=…`.
 */
type Form = 'text' | 'number' | 'list' | 'numbers' | 'classes'

interface Variable {
  readonly path: string
  readonly form: Form
}

/** Names the configuration file. */
export const configFileVariable = 'POSTERN_CONFIG'

/** API key for commands such as `postern send`; not a setting of the daemon. */
export const apiKeyVariable = 'POSTERN_API_KEY'

/** Address of another daemon for such commands. `postern capture` sets it for the tests that it runs. */
export const daemonUrlVariable = 'POSTERN_URL'

/** Id of the inbox, for tests that `postern capture` runs. */
export const inboxVariable = 'POSTERN_INBOX_ID'

/** Passphrase of backups. */
export const backupPassphraseVariable = 'POSTERN_BACKUP_PASSPHRASE'

/** Variables that other code reads. */
export const noSettings: readonly string[] = [
  configFileVariable,
  apiKeyVariable,
  daemonUrlVariable,
  inboxVariable,
  backupPassphraseVariable,
]

const variables: Readonly<Record<string, Variable>> = {
  POSTERN_DATA_DIR: { path: 'dataDir', form: 'text' },
  POSTERN_USER: { path: 'user', form: 'text' },
  POSTERN_BASE_URL: { path: 'baseUrl', form: 'text' },
  POSTERN_AUTH_URL: { path: 'authUrl', form: 'text' },
  POSTERN_FORMS_URL: { path: 'formsUrl', form: 'text' },
  POSTERN_MCP_URL: { path: 'mcpUrl', form: 'text' },
  POSTERN_INBOUND_DOMAIN: { path: 'inboundDomain', form: 'text' },
  POSTERN_SMTP_HOST: { path: 'smtpHost', form: 'text' },
  POSTERN_ADMIN_KEY: { path: 'adminKey', form: 'text' },
  POSTERN_OPERATOR_KEY: { path: 'operatorKey', form: 'text' },
  POSTERN_OPERATORS: { path: 'operators', form: 'list' },
  POSTERN_INBOX_NOTIFY_SECRET: { path: 'inboxNotifySecret', form: 'text' },
  POSTERN_MASTER_KEY: { path: 'masterKey', form: 'text' },
  POSTERN_MASTER_KEY_FILE: { path: 'masterKeyFile', form: 'text' },
  POSTERN_PLAN: { path: 'plan', form: 'text' },
  POSTERN_SIGN_UP: { path: 'signUp', form: 'text' },
  POSTERN_SYSTEM_DESTINATION: { path: 'systemMail.destination', form: 'text' },
  POSTERN_SYSTEM_FROM: { path: 'systemMail.from', form: 'text' },
  POSTERN_LOG_LEVEL: { path: 'logLevel', form: 'text' },
  POSTERN_LOG_LEVELS: { path: 'logLevels', form: 'text' },
  POSTERN_LOG_FORMAT: { path: 'logFormat', form: 'text' },
  POSTERN_SHUTDOWN_SECONDS: { path: 'shutdownSeconds', form: 'number' },
  POSTERN_DRAIN_SECONDS: { path: 'drainSeconds', form: 'number' },
  POSTERN_HTTP_LISTEN: { path: 'http.listen', form: 'text' },
  POSTERN_HTTPS_LISTEN: { path: 'http.tlsListen', form: 'text' },
  POSTERN_HTTP_MAX_BODY_BYTES: { path: 'http.maxBodyBytes', form: 'number' },
  POSTERN_HTTP_MAX_CONNECTIONS: { path: 'http.maxConnections', form: 'number' },
  POSTERN_HTTP_MAX_CONNECTIONS_PER_ADDRESS: { path: 'http.maxConnectionsPerAddress', form: 'number' },
  POSTERN_TRUST_PROXY: { path: 'http.trustProxy', form: 'list' },
  POSTERN_SUBMISSION_LISTEN: { path: 'submission.listen', form: 'list' },
  POSTERN_SUBMISSIONS_LISTEN: { path: 'submission.implicitTlsListen', form: 'list' },
  POSTERN_SUBMISSION_CLEARTEXT_AUTH: { path: 'submission.cleartextAuth', form: 'text' },
  POSTERN_SUBMISSION_MAX_MESSAGE_BYTES: { path: 'submission.maxMessageBytes', form: 'number' },
  POSTERN_SUBMISSION_MAX_RECIPIENTS: { path: 'submission.maxRecipients', form: 'number' },
  POSTERN_SUBMISSION_MAX_CONNECTIONS: { path: 'submission.maxConnections', form: 'number' },
  POSTERN_SUBMISSION_MAX_CONNECTIONS_PER_ADDRESS: { path: 'submission.maxConnectionsPerAddress', form: 'number' },
  POSTERN_SUBMISSION_SESSION_SECONDS: { path: 'submission.sessionSeconds', form: 'number' },
  POSTERN_SUBMISSION_IDLE_SECONDS: { path: 'submission.idleSeconds', form: 'number' },
  POSTERN_SUBMISSION_AUTH_FAILURES_PER_SESSION: { path: 'submission.authFailuresPerSession', form: 'number' },
  POSTERN_SITES_LISTEN: { path: 'sites.listen', form: 'text' },
  POSTERN_SITES_DOMAIN: { path: 'sites.domain', form: 'text' },
  POSTERN_SITES_MAX_CONNECTIONS: { path: 'sites.maxConnections', form: 'number' },
  POSTERN_SITES_MAX_CONNECTIONS_PER_ADDRESS: { path: 'sites.maxConnectionsPerAddress', form: 'number' },
  POSTERN_MX_LISTEN: { path: 'mx.listen', form: 'list' },
  POSTERN_MX_MAX_MESSAGE_BYTES: { path: 'mx.maxMessageBytes', form: 'number' },
  POSTERN_MX_MAX_CONNECTIONS: { path: 'mx.maxConnections', form: 'number' },
  POSTERN_MX_MAX_CONNECTIONS_PER_ADDRESS: { path: 'mx.maxConnectionsPerAddress', form: 'number' },
  POSTERN_IMAP_CA_FILE: { path: 'imap.caFile', form: 'text' },
  POSTERN_INSPECT_DOMAIN: { path: 'inspect.domain', form: 'text' },
  POSTERN_INSPECT_DNS_LISTS: { path: 'inspect.dnsLists', form: 'list' },
  POSTERN_INSPECT_MTA_STS: { path: 'inspect.mtaSts', form: 'text' },
  POSTERN_TURNSTILE_VERIFY_URL: { path: 'captcha.turnstileVerifyUrl', form: 'text' },
  POSTERN_HCAPTCHA_VERIFY_URL: { path: 'captcha.hcaptchaVerifyUrl', form: 'text' },
  POSTERN_FORMS_PRIVACY_URL: { path: 'forms.privacyUrl', form: 'text' },
  POSTERN_FORMS_REPORT_URL: { path: 'forms.reportUrl', form: 'text' },
  POSTERN_CLAMD: { path: 'uploads.clamd', form: 'text' },
  POSTERN_UNSCANNED_DOWNLOADS: { path: 'uploads.unscannedDownloads', form: 'text' },
  POSTERN_TLS_CERT: { path: 'tls.certificateFile', form: 'text' },
  POSTERN_TLS_KEY: { path: 'tls.keyFile', form: 'text' },
  POSTERN_ACME_CHALLENGE: { path: 'acme.challenge', form: 'text' },
  POSTERN_ACME_TERMS: { path: 'acme.terms', form: 'text' },
  POSTERN_ACME_NAMES: { path: 'acme.names', form: 'list' },
  POSTERN_ACME_EMAIL: { path: 'acme.email', form: 'text' },
  POSTERN_ACME_DIRECTORY: { path: 'acme.directoryUrl', form: 'text' },
  POSTERN_ACME_LISTEN: { path: 'acme.listen', form: 'list' },
  POSTERN_ACME_EAB_KEY_ID: { path: 'acme.eabKeyId', form: 'text' },
  POSTERN_ACME_EAB_KEY: { path: 'acme.eabKey', form: 'text' },
  POSTERN_ACME_CA_FILE: { path: 'acme.caFile', form: 'text' },
  POSTERN_OUTBOUND_ALLOW: { path: 'outbound.allow', form: 'classes' },
  POSTERN_DNS_SERVERS: { path: 'outbound.dnsServers', form: 'list' },
  POSTERN_SPF_MECHANISMS: { path: 'outbound.spf', form: 'list' },
  POSTERN_SENDMAIL_URL: { path: 'sendmail.url', form: 'text' },
  POSTERN_SENDMAIL_KEY: { path: 'sendmail.key', form: 'text' },
  POSTERN_SENDMAIL_SPOOL: { path: 'sendmail.spool', form: 'text' },
  POSTERN_SENDMAIL_LOCAL_RECIPIENT: { path: 'sendmail.localRecipient', form: 'text' },
  POSTERN_DOCTOR_MAIL_TO: { path: 'doctor.mailTo', form: 'text' },
  POSTERN_DOCTOR_WEBHOOK_URL: { path: 'doctor.webhookUrl', form: 'text' },
  POSTERN_DOCTOR_WEBHOOK_SECRET: { path: 'doctor.webhookSecret', form: 'text' },
  POSTERN_DOCTOR_ADDRESSES: { path: 'doctor.addresses', form: 'list' },
  POSTERN_DOCTOR_BLOCKLISTS: { path: 'doctor.blocklists', form: 'list' },
  POSTERN_DOCTOR_TIME_SERVERS: { path: 'doctor.timeServers', form: 'list' },
  POSTERN_OTLP_ENDPOINT: { path: 'otlp.endpoint', form: 'text' },
  POSTERN_OTLP_HEADERS: { path: 'otlp.headers', form: 'text' },
  POSTERN_OTLP_SAMPLE_RATIO: { path: 'otlp.sampleRatio', form: 'number' },
  POSTERN_OTLP_SERVICE_NAME: { path: 'otlp.serviceName', form: 'text' },
  POSTERN_DELIVERY_RETRY_SECONDS: { path: 'delivery.retrySeconds', form: 'numbers' },
  POSTERN_DELIVERY_UNKNOWN_RETRY_SECONDS: { path: 'delivery.unknownRetrySeconds', form: 'number' },
  POSTERN_DELIVERY_MAX_AGE_HOURS: { path: 'delivery.maxAgeHours', form: 'number' },
  POSTERN_DELIVERY_JITTER: { path: 'delivery.jitter', form: 'number' },
  POSTERN_DELIVERY_CONNECTIONS_PER_DESTINATION: { path: 'delivery.connectionsPerDestination', form: 'number' },
  POSTERN_DELIVERY_CONNECTIONS_TOTAL: { path: 'delivery.connectionsTotal', form: 'number' },
  POSTERN_DELIVERY_MEMORY_BUDGET_BYTES: { path: 'delivery.memoryBudgetBytes', form: 'number' },
  POSTERN_STORE: { path: 'store.address', form: 'text' },
  POSTERN_STORE_OBJECTS: { path: 'store.objects', form: 'text' },
  POSTERN_STORE_OBJECT_BYTES: { path: 'store.objectBytes', form: 'number' },
  POSTERN_STORE_LOW_DISK_BYTES: { path: 'store.lowDiskBytes', form: 'number' },
  POSTERN_STORE_BALLAST_BYTES: { path: 'store.ballastBytes', form: 'number' },
  POSTERN_INVOICE_ISSUER: { path: 'billing.issuer', form: 'text' },
  POSTERN_INVOICE_PAYMENT_DAYS: { path: 'billing.paymentDays', form: 'number' },
  POSTERN_VAT_BASIS_POINTS: { path: 'billing.vatBasisPoints', form: 'number' },
}

const nameByPath = new Map(Object.entries(variables).map(([name, { path }]) => [path, name]))

/** Variables of OpenTelemetry. They apply if Postern's variable is not set. */
const openTelemetry: Readonly<Record<string, string>> = {
  OTEL_EXPORTER_OTLP_ENDPOINT: 'POSTERN_OTLP_ENDPOINT',
  OTEL_EXPORTER_OTLP_HEADERS: 'POSTERN_OTLP_HEADERS',
  OTEL_SERVICE_NAME: 'POSTERN_OTLP_SERVICE_NAME',
}

/** Returns the variable that sets the value at `path`, or that sets it together with its neighbors. */
export function variableFor(path: readonly string[]): string | undefined {
  const prefixes = path.map((_, i) => path.slice(0, path.length - i).join('.'))
  return prefixes.map((prefix) => nameByPath.get(prefix)).find((name) => name !== undefined)
}

/** Content of the environment: values by path, and one sentence for each invalid variable. */
export interface Overlay {
  readonly values: ReadonlyMap<string, unknown>
  readonly problems: readonly string[]
}

/** Reads all `POSTERN_*` variables. An empty variable is ignored, except for a list, which becomes empty. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Overlay {
  const values = new Map<string, unknown>()
  const problems: string[] = []
  for (const [name, text] of Object.entries(withOpenTelemetry(env))) {
    if (!name.startsWith('POSTERN_') || noSettings.includes(name) || text === undefined) continue
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (!variable) problems.push(unknownVariable(name))
    else if (text.trim() !== '' || isList(variable.form)) values.set(variable.path, readText(variable.form, text.trim()))
  }
  return { values, problems }
}

/** Returns the environment with Postern's variables in place of OpenTelemetry's variables. */
function withOpenTelemetry(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> {
  const taken = Object.entries(openTelemetry).flatMap(([theirs, ours]) => ((env[ours] ?? '').trim() === '' ? [[ours, env[theirs]]] : []))
  return { ...env, ...(Object.fromEntries(taken) as Record<string, string | undefined>) }
}

/** Applies an overlay to a copy of the configuration file's content. */
export function applyOverlay(file: Readonly<Record<string, unknown>>, { values }: Overlay): Record<string, unknown> {
  const result = structuredClone(file)
  for (const [path, value] of values) place(result, path.split('.'), value)
  return result
}

function place(section: Record<string, unknown>, [key = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    section[key] = value
    return
  }
  section[key] ??= {}
  // The schema reports a section of the wrong type. A variable inside it is ignored.
  if (isSection(section[key])) place(section[key], rest, value)
}

const isList = (form: Form): boolean => form === 'list' || form === 'numbers' || form === 'classes'

const splitAt = (text: string, separator: string): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** Invalid numbers stay texts, so that the schema can report the allowed values. */
const readNumber = (text: string): number | string => (/^\d{1,16}(?:\.\d{1,9})?$/.test(text) ? Number(text) : text)

function readText(form: Form, text: string): unknown {
  switch (form) {
    case 'text':
      return text
    case 'number':
      return readNumber(text)
    case 'list':
      return splitAt(text, ',')
    case 'numbers':
      return splitAt(text, ',').map(readNumber)
    case 'classes':
      return readClasses(text)
  }
}

function readClasses(text: string): unknown {
  const parts = splitAt(text, ';').map((part) => part.split('='))
  if (parts.some((part) => part.length !== 2)) return text
  const names = parts.map(([name = '']) => name.trim())
  if (new Set(names).size !== names.length) return text
  return Object.fromEntries(parts.map(([, list = ''], i) => [names[i], splitAt(list, ',')]))
}

function unknownVariable(name: string): string {
  const near = closest(name, [...noSettings, ...Object.keys(variables)])
  return `${name} is not a setting; ${near ? `did you mean ${near}?` : 'remove it, or see config/settings.md for all settings.'}`
}
