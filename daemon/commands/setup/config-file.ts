/** The configuration file: computes the changes that the answers require, shows them, and writes the file atomically. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { resolve } from 'node:path'
import { configFileVariable, variableFor } from '#config/settings/environment.ts'
import { loadConfig, type Config } from '#config/settings/load.ts'
import { at, isSection } from '#config/settings/setting-list.ts'
import { placeWhole } from '../../backup/whole-file.ts'
import type { Answers } from './answers.ts'

type Json = Record<string, unknown>

/** A changed setting. `before` is undefined if the file does not contain it. */
export interface Changed {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

const packaged = '/etc/postern/postern.json'
const newFileMode = 0o640

/** Returns the file that the setup writes. */
export function configFile(given: string | undefined, env: NodeJS.ProcessEnv): string {
  if (given !== undefined) return given
  const named = env[configFileVariable]
  if (named !== undefined && named !== '') return named
  return process.getuid?.() === 0 && existsSync(packaged) ? packaged : './postern.json'
}

/** How to start a daemon with the file, and related notes for the user. */
export interface Start {
  readonly how: (act: 'start' | 'restart') => string
  readonly notes: readonly string[]
}

/** Only the service of the package reads a file that no variable names. */
export function startWith(path: string, env: NodeJS.ProcessEnv): Start {
  if (path === packaged) return { how: (act) => `systemctl ${act} postern`, notes: [] }
  const isNamed = env[configFileVariable] === path
  const serve = isNamed ? 'postern serve' : `${configFileVariable}=${resolve(path)} postern serve`
  return {
    how: (act) => (act === 'start' ? serve : `stop it, then ${serve}`),
    notes: isNamed ? [] : [`- Set ${configFileVariable} for the other commands too. They read no other file.`],
  }
}

/** Loads the configuration as if the file had this content; undefined means no file. */
export function configWith(path: string, content: Json | undefined, env: NodeJS.ProcessEnv): Config {
  const named = { ...env, [configFileVariable]: content === undefined ? '' : path }
  return loadConfig({ env: named, readFile: (file) => (file === path ? JSON.stringify(content) : readFileSync(file, 'utf8')) })
}

/** Returns the content of the file; undefined if it does not exist. Throws `ConfigInvalid` for an invalid configuration. */
export function contentOf(path: string, env: NodeJS.ProcessEnv): Json | undefined {
  if (!existsSync(path)) return undefined
  loadConfig({ env: { ...env, [configFileVariable]: path }, readFile: (file) => readFileSync(file, 'utf8') })
  return JSON.parse(readFileSync(path, 'utf8')) as Json
}

/** Converts the answers to settings. Returns the settings that differ from the configuration. */
export function changesFor(answers: Answers, content: Json, config: Config): Changed[] {
  const { host, email, url, isPublic, spf } = answers
  const wanted: readonly (readonly [path: string, value: unknown, isSo: boolean])[] = [
    ['smtpHost', host, config.smtpHost === host && at(content, ['smtpHost']) !== undefined],
    ['baseUrl', url, config.baseUrl === url],
    ['operators', [...config.operators, email], config.operators.includes(email)],
    ['doctor.mailTo', email, config.doctor.mailTo === email],
    ['outbound.spf', spf, spf.join() === config.outbound.spf.join()],
    ...(isPublic ? publicSettings(answers, config) : []),
    ...certificateSettings(answers, config),
  ]
  return wanted.filter(([, , isSo]) => !isSo).map(([path, after]) => ({ path, before: at(content, path.split('.')), after }))
}

/** Variables that override the file with other values after the setup. */
export const variablesAgainst = (changes: readonly Changed[]): readonly string[] =>
  changes.filter(isWritten).flatMap(({ path }) => variableFor(path.split('.')) ?? [])

/** Returns true if the file already has the value, so that only a variable can override it. */
export const isWritten = ({ before, after }: Changed): boolean => JSON.stringify(before) === JSON.stringify(after)

/** Settings for access from other machines. Listeners that are already public keep their ports. */
function publicSettings({ domain }: Answers, { submission, mx, inboundDomain }: Config): (readonly [string, unknown, boolean])[] {
  const isOpen = (listeners: Config['mx']['listen']): boolean => listeners.some(({ host }) => !/^127\.|^::1$|^localhost$/.test(host))
  return [
    ['inboundDomain', inboundDomain ?? `bounces.${domain}`, inboundDomain !== null],
    ['submission.listen', ['127.0.0.1:2525', '0.0.0.0:587'], isOpen(submission.listen)],
    ['submission.implicitTlsListen', ['0.0.0.0:465'], isOpen(submission.implicitTlsListen)],
    ['mx.listen', ['0.0.0.0:25'], isOpen(mx.listen)],
  ]
}

/** Address of the HTTPS listener without a proxy. */
const https = '0.0.0.0:443'

/** Keeps an existing ACME challenge, HTTPS listener and account address. */
function certificateSettings({ certificate, url, email }: Answers, { acme, tls, http }: Config): (readonly [string, unknown, boolean])[] {
  if (!certificate) return []
  const { from, files } = certificate
  const orders = acme.challenge !== 'off'
  if (from === 'acme')
    return [
      ['acme.challenge', 'tls-alpn-01', orders],
      ['acme.terms', 'agreed', acme.terms === 'agreed'],
      ['acme.email', email, acme.email !== null],
      ['http.tlsListen', https, http.tlsListen !== null || acme.challenge === 'http-01'],
      ['tls.certificateFile', null, tls.certificateFile === null],
      ['tls.keyFile', null, tls.keyFile === null],
    ]
  return [
    ...(files
      ? ([
          ['tls.certificateFile', files.certificateFile, tls.certificateFile === files.certificateFile],
          ['tls.keyFile', files.keyFile, tls.keyFile === files.keyFile],
          ['acme.challenge', 'off', !orders],
        ] as const)
      : []),
    from === 'proxy'
      ? ['http.trustProxy', ['127.0.0.1', '::1'], http.trustProxy.length > 0]
      : ['http.tlsListen', https, http.tlsListen !== null || url === null],
  ]
}

/** Returns the content with the changes; other settings stay unchanged. */
export function changed(content: Json, changes: readonly Changed[]): Json {
  const result = structuredClone(content)
  for (const { path, after } of changes) {
    const parts = path.split('.')
    let section = result
    for (const part of parts.slice(0, -1)) {
      const inner = section[part]
      const next: Json = isSection(inner) ? inner : {}
      section[part] = next
      section = next
    }
    section[parts.at(-1) ?? ''] = after
  }
  return result
}

/** Formats each change as one line for the old value and one for the new. */
export const diffOf = (changes: readonly Changed[]): string =>
  changes
    .map(
      ({ path, before, after }) =>
        `${before === undefined ? '' : `- ${path}: ${JSON.stringify(before)}\n`}+ ${path}: ${JSON.stringify(after)}\n`,
    )
    .join('')

/** Writes the file atomically. An existing file keeps its owner and permissions. */
export async function writeConfigFile(path: string, content: Json): Promise<void> {
  const before = statSync(path, { throwIfNoEntry: false })
  await placeWhole(path, [Buffer.from(`${JSON.stringify(content, undefined, 2)}\n`)], before ? before.mode & 0o777 : newFileMode)
  if (before && process.getuid?.() === 0) await chown(path, before.uid, before.gid)
}
