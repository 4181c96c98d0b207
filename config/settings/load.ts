/**
 * Loads the configuration: environment variables take precedence over one JSON file, and the file over defaults. Every problem stops the
 * start.
 */
import { hostname } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import type { z } from 'zod'
import { closest } from '../texts/closest.ts'
import { contradictions } from './contradictions.ts'
import { applyOverlay, configFileVariable, readEnvironment, variableFor, type Overlay } from './environment.ts'
import { formatEndpoint, parseMasterKey, type Endpoint } from './formats.ts'
import { schema } from './schema.ts'
import { isSection, settings } from './setting-list.ts'

type Frozen<T> = T extends Uint8Array ? T : T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T

/** All settings with their values, frozen. */
export type Config = Frozen<Omit<z.output<typeof schema>, 'smtpHost'>> & {
  readonly smtpHost: string
  /** A setting contains the absolute path of the data folder, so that it is the same in every working folder. */
  readonly isDataDirFixed: boolean
}

/** The configuration is invalid. The message has one line with a sentence for each problem. */
export class ConfigInvalid extends Error {
  override readonly name = 'ConfigInvalid'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** Sources of the configuration. `readFile` returns the text of a file and throws the errors of `fs.readFileSync`. */
export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => string
}

/** Reads and validates all settings. Throws `ConfigInvalid` with a sentence and a fix for each unknown or invalid setting. */
export function loadConfig({ env, readFile }: ConfigSources): Config {
  const file = env[configFileVariable] || undefined
  const content = file === undefined ? {} : readConfigFile(file, readFile)
  const overlay = readEnvironment(env)
  const result = schema.safeParse(applyOverlay(content, overlay))
  const problems = [...overlay.problems]
  if (!result.success) problems.push(...result.error.issues.flatMap((issue) => describe(issue, overlay, file)))
  if (!result.success || problems.length > 0) throw new ConfigInvalid([...new Set(problems)])
  const contradicting = contradictions(result.data)
  if (contradicting.length > 0) throw new ConfigInvalid(contradicting)
  const { masterKeyFile } = result.data
  return freeze({
    ...result.data,
    dataDir: resolve(result.data.dataDir),
    isDataDirFixed: isAbsolute(result.data.dataDir),
    smtpHost: result.data.smtpHost ?? machineName(),
    masterKey: masterKeyFile === null ? result.data.masterKey : readMasterKey(masterKeyFile, readFile),
  })
}

/** Returns the public address of the HTTP listener. `bound`: the address in use, which replaces port 0. */
export function publicUrl(config: Pick<Config, 'baseUrl' | 'smtpHost'>, bound: Endpoint): string {
  if (config.baseUrl !== null) return config.baseUrl
  const everywhere = bound.host === '0.0.0.0' || bound.host === '::'
  return `http://${formatEndpoint({ host: everywhere ? config.smtpHost : bound.host, port: bound.port })}`
}

/** Returns the address of the web pages, which is that of the authorization server. Links, sessions and passkeys belong to it. */
export const pagesUrl = (config: Pick<Config, 'baseUrl' | 'smtpHost' | 'authUrl'>, bound: Endpoint): string =>
  config.authUrl ?? namedUrl(config, bound)

/** Returns the address of the pages of forms. */
export const formsUrl = (config: Pick<Config, 'baseUrl' | 'smtpHost' | 'formsUrl'>, bound: Endpoint): string =>
  config.formsUrl ?? publicUrl(config, bound)

/**
 * Returns the public address for browsers. Without a setting, and on a loopback listener, the host is `localhost`, because browsers bind
 * passkeys to names and never to IP addresses (WebAuthn Level 3 §5.1.2).
 */
const namedUrl = (config: Pick<Config, 'baseUrl' | 'smtpHost'>, bound: Endpoint): string =>
  config.baseUrl === null && isLoopback(bound.host) ? `http://localhost:${bound.port}` : publicUrl(config, bound)

/** Returns whether only this machine can reach a listener at the host. */
export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)

/** Returns the address for submission by SMTP: the name of the service, or `localhost` if all listeners are on loopback. */
export function submissionAddress({ submission: { listen, implicitTlsListen }, smtpHost }: Pick<Config, 'submission' | 'smtpHost'>): {
  readonly host: string
  /** Ports with STARTTLS; `tls` has the ports with implicit TLS. */
  readonly starttls: readonly number[]
  readonly tls: readonly number[]
} {
  const all = [...listen, ...implicitTlsListen]
  const isLocal = all.length > 0 && all.every(({ host }) => isLoopback(host))
  const portsOf = (endpoints: readonly Endpoint[]): number[] => [...new Set(endpoints.map(({ port }) => port))]
  return { host: isLocal ? 'localhost' : smtpHost, starttls: portsOf(listen), tls: portsOf(implicitTlsListen) }
}

/** Returns the issuer of access tokens and their resources (RFC 8707 §2). */
export function oauthUrls(
  config: Pick<Config, 'baseUrl' | 'smtpHost' | 'authUrl' | 'mcpUrl'>,
  bound: Endpoint,
): { readonly issuer: string; readonly resources: { readonly mcp: string; readonly rest: string } } {
  const base = namedUrl(config, bound)
  return { issuer: pagesUrl(config, bound), resources: { mcp: config.mcpUrl ?? `${base}/mcp`, rest: `${base}/v1` } }
}

function readConfigFile(path: string, readFile: ConfigSources['readFile']): Record<string, unknown> {
  const text = readOrRefuse(configFileVariable, path, readFile)
  const content = parseJson(text)
  if (isSection(content)) return content
  throw new ConfigInvalid([`${configFileVariable}: ${path} must contain one JSON object; see config/example.json for its form.`])
}

/** Replaces the parser's message, which quotes the text and so may reveal secrets. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readMasterKey(path: string, readFile: ConfigSources['readFile']): Uint8Array {
  const key = parseMasterKey(readOrRefuse('POSTERN_MASTER_KEY_FILE', path, readFile))
  if (key) return key
  const { limit } = settings.find((setting) => setting.path.join('.') === 'masterKey')!
  throw new ConfigInvalid([`POSTERN_MASTER_KEY_FILE: ${path} must contain ${limit}.`])
}

function readOrRefuse(variable: string, path: string, readFile: ConfigSources['readFile']): string {
  try {
    return readFile(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw new ConfigInvalid([`${variable}: ${path} cannot be read (${code}); check the path and its permissions.`])
  }
}

/** Returns one sentence, or one for each unknown key. */
function describe(issue: z.core.$ZodIssue, overlay: Overlay, file: string | undefined): string[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownSetting(path, key, overlay, file))
  }
  return [`${nameOf(path, overlay, file)} must be ${issue.message}.`]
}

/** Returns the operator's name for a setting: the variable, or the path in the file. */
function nameOf(path: readonly string[], overlay: Overlay, file: string | undefined): string {
  const prefixes = path.map((_, i) => path.slice(0, i + 1).join('.'))
  if (prefixes.some((prefix) => overlay.values.has(prefix))) return variableFor(path) ?? path.join('.')
  return `${path.join('.')} in ${file}`
}

function unknownSetting(section: readonly string[], key: string, overlay: Overlay, file: string | undefined): string {
  const within = settings.filter((setting) => section.every((part, i) => setting.path[i] === part))
  const known = [...new Set(within.map((setting) => setting.path[section.length] ?? ''))]
  const near = closest(key, known)
  const name = overlay.values.has(section.join('.')) ? `${key} in ${variableFor(section)}` : nameOf([...section, key], overlay, file)
  return `${name} is not a setting; ${near ? `did you mean ${near}?` : `valid names here are ${known.join(', ')}.`}`
}

/** Replaces a machine name that is not a valid host name for a greeting. */
function machineName(): string {
  const name = hostname().toLowerCase()
  return schema.shape.smtpHost.safeParse(name).success ? name : 'localhost'
}

function freeze<T>(value: T): Frozen<T> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value as Frozen<T>
  for (const inner of Object.values(value)) freeze(inner)
  return Object.freeze(value) as Frozen<T>
}
