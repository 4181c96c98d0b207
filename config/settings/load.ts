/** Makes the configuration: one JSON file, environment variables over it, defaults under it, and every doubt answered before the start. */
import { hostname } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import type { z } from 'zod'
import { closest } from '../words/closest.ts'
import { contradictions } from './contradictions.ts'
import { applyOverlay, configFileVariable, readEnvironment, variableFor, type Overlay } from './environment.ts'
import { formatEndpoint, parseMasterKey, type Endpoint } from './formats.ts'
import { schema } from './schema.ts'
import { isSection, settings } from './setting-list.ts'

type Frozen<T> = T extends Uint8Array ? T : T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T

/** All settings with their values. Nothing in it can be changed. */
export type Config = Frozen<Omit<z.output<typeof schema>, 'smtpHost'>> & {
  readonly smtpHost: string
  /** A setting names the data folder by an absolute path: it is the same for every caller, whatever folder it works in. */
  readonly isDataDirFixed: boolean
}

/** The configuration cannot be used. The message holds one sentence for each problem, a line each. */
export class ConfigInvalid extends Error {
  override readonly name = 'ConfigInvalid'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** Where the configuration comes from. `readFile` returns the text of a file and throws what `fs.readFileSync` throws. */
export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => string
}

/** Reads and checks all settings. Throws `ConfigInvalid` that names every unknown or invalid setting and its fix. */
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

/** Address under which the HTTP side is reached; `bound` is what it listens on, as port 0 becomes a real one only then. */
export function publicUrl(config: Pick<Config, 'baseUrl' | 'smtpHost'>, bound: Endpoint): string {
  if (config.baseUrl !== null) return config.baseUrl
  const everywhere = bound.host === '0.0.0.0' || bound.host === '::'
  return `http://${formatEndpoint({ host: everywhere ? config.smtpHost : bound.host, port: bound.port })}`
}

/** Address of the pages for people, to which links lead and sessions and passkeys are bound: that of the authorization server. */
export const pagesUrl = (config: Pick<Config, 'baseUrl' | 'smtpHost' | 'authUrl'>, bound: Endpoint): string =>
  config.authUrl ?? namedUrl(config, bound)

/** Address of the pages of forms. */
export const formsUrl = (config: Pick<Config, 'baseUrl' | 'smtpHost' | 'formsUrl'>, bound: Endpoint): string =>
  config.formsUrl ?? publicUrl(config, bound)

/**
 * The public address as browsers need it: where nothing is set and the service listens on loopback, that is `localhost`, because
 * they bind passkeys to names and never to IP addresses (WebAuthn Level 3 §5.1.2).
 */
const namedUrl = (config: Pick<Config, 'baseUrl' | 'smtpHost'>, bound: Endpoint): string =>
  config.baseUrl === null && isLoopback(bound.host) ? `http://localhost:${bound.port}` : publicUrl(config, bound)

/** Whether what listens there is reached from this machine alone. */
export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)

/** Where programs submit mail by SMTP: by the name of the service, or `localhost` where it listens on loopback alone. */
export function submissionAddress({ submission: { listen, implicitTlsListen }, smtpHost }: Pick<Config, 'submission' | 'smtpHost'>): {
  readonly host: string
  /** Ports that begin with STARTTLS, and those in TLS. */
  readonly starttls: readonly number[]
  readonly tls: readonly number[]
} {
  const all = [...listen, ...implicitTlsListen]
  const isLocal = all.length > 0 && all.every(({ host }) => isLoopback(host))
  const portsOf = (endpoints: readonly Endpoint[]): number[] => [...new Set(endpoints.map(({ port }) => port))]
  return { host: isLocal ? 'localhost' : smtpHost, starttls: portsOf(listen), tls: portsOf(implicitTlsListen) }
}

/** The issuer of access tokens, and the resources that they are for (RFC 8707 §2). */
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
  throw new ConfigInvalid([`${configFileVariable}: ${path} must hold one JSON object; config/example.json shows its form.`])
}

/** The parser's own message quotes the text, which may hold secrets, and is not passed on. */
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
  throw new ConfigInvalid([`POSTERN_MASTER_KEY_FILE: ${path} must hold ${limit}.`])
}

function readOrRefuse(variable: string, path: string, readFile: ConfigSources['readFile']): string {
  try {
    return readFile(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw new ConfigInvalid([`${variable}: ${path} cannot be read (${code}); check the path and its permissions.`])
  }
}

/** One sentence, or for unknown keys one sentence each. */
function describe(issue: z.core.$ZodIssue, overlay: Overlay, file: string | undefined): string[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownSetting(path, key, overlay, file))
  }
  return [`${nameOf(path, overlay, file)} must be ${issue.message}.`]
}

/** What the operator wrote: the variable when it came from there, else the path in the file. */
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
  return `${name} is not a setting; ${near ? `did you mean ${near}?` : `what can stand there is ${known.join(', ')}.`}`
}

/** Machine names may hold what a host name may not; a greeting must not. */
function machineName(): string {
  const name = hostname().toLowerCase()
  return schema.shape.smtpHost.safeParse(name).success ? name : 'localhost'
}

function freeze<T>(value: T): Frozen<T> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value as Frozen<T>
  for (const inner of Object.values(value)) freeze(inner)
  return Object.freeze(value) as Frozen<T>
}
