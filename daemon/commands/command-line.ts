/** The `postern` command line: parses arguments into a command. Reads no files and runs nothing. */
import type { ParseArgsOptionsConfig } from 'node:util'
import { closest } from '#config/texts/closest.ts'
import { commandHelp, helpOf, helpText } from './command-help.ts'
import { deployOptions, deployArguments, type DeployArguments } from './deploy/deploy-arguments.ts'
import { findingsArguments, findingsOptions, type FindingsArguments } from './findings/findings-arguments.ts'
import { keyOptions, keyArguments, type KeyArguments } from './key-arguments.ts'
import { promoteOptions, promoteArguments, type PromoteArguments } from './promote/promote-arguments.ts'
import { queueOptions, queueVerbs, queueArguments, type QueueArguments } from './queue/queue-arguments.ts'
import { numberOf, readOptions, UsageError } from './read-options.ts'
import type { SetupArguments } from './setup/answers.ts'
import { setupOptions, setupArguments } from './setup/setup-arguments.ts'
import { operatorHelp, readOperatorArguments, type OperatorRequest } from './operator/operator-arguments.ts'

/** The daemon that a command calls: by default the daemon of the data folder, otherwise the daemon at an address with an API key. */
export interface DaemonChoice {
  readonly url: string | undefined
  readonly key: string | undefined
}

export interface SendArguments extends DaemonChoice {
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  /** Text part of the message. `-` reads it from the standard input. If it is empty, the message has no text part. */
  readonly text: string
  readonly html: string | undefined
  readonly asJson: boolean
}

export interface BackupArguments {
  /** Path of the new backup. `-` writes it to the standard output. */
  readonly file: string
  /** Path of the earlier backup, for an incremental backup. */
  readonly since: string | undefined
  readonly passphraseFile: string | undefined
  /** Replaces the file if it exists. */
  readonly force: boolean
}

export interface RestoreArguments {
  /** Paths of a full backup and of the incremental backups after it, in order. */
  readonly files: readonly string[]
  readonly into: string
  readonly passphraseFile: string | undefined
}

export interface MigrateArguments {
  /** A data folder, or the address of a database. */
  readonly from: string
  readonly to: string
  /** Deletes existing rows of the target database first. */
  readonly replace: boolean
  /** Copies while a daemon runs. Run the command again without `--ahead` to complete the copy. */
  readonly isAhead: boolean
}

export interface ImportArguments extends DaemonChoice {
  readonly what: 'suppressions' | 'templates'
  readonly file: string
  /** Fields of the request, by their names in the API. */
  readonly options: Readonly<Record<'service' | 'kind' | 'list' | 'project_id' | 'from_row' | 'subject', string | undefined>>
  readonly isDryRun: boolean
  readonly replaces: boolean
  readonly asJson: boolean
}

export interface LogsArguments {
  readonly traceId: string
  /** Path of a log. `-` reads the standard input; undefined reads the lines that the running daemon has in memory. */
  readonly file: string | undefined
  readonly asJson: boolean
}

export interface CaptureArguments {
  /** 0 selects a free port. */
  readonly smtpPort: number
  readonly httpPort: number
  readonly asJson: boolean
  /** Whether bounces and complaints add recipients to the suppression list. */
  readonly suppresses: boolean
  readonly isVerbose: boolean
  /** Expectations as the caller wrote them. */
  readonly expectations: readonly string[]
  readonly expectationFile: string | undefined
  /** Seconds to wait for mail after the tests end. */
  readonly waitSeconds: number
  readonly junitFile: string | undefined
  /** The command that runs the tests; empty if tests are started separately. */
  readonly command: readonly string[]
}

/** A parsed command. `usage` is an error in the arguments; the process exits with 64. */
export type Command =
  | { readonly name: 'serve'; readonly readyFile: string | undefined }
  | { readonly name: 'config' | 'version' }
  | { readonly name: 'doctor'; readonly asJson: boolean }
  | { readonly name: 'setup'; readonly args: SetupArguments }
  | { readonly name: 'help'; readonly text: string }
  | { readonly name: 'licenses'; readonly asBill: boolean }
  | { readonly name: 'operator'; readonly request: OperatorRequest }
  | { readonly name: 'login-link'; readonly email: string; readonly next: string | undefined }
  | { readonly name: 'send'; readonly args: SendArguments }
  | { readonly name: 'tail'; readonly asJson: boolean }
  | { readonly name: 'key create'; readonly args: DaemonChoice & KeyArguments }
  | { readonly name: 'promote'; readonly args: DaemonChoice & PromoteArguments }
  | {
      readonly name: 'verify'
      readonly file: string | undefined
      readonly passphraseFile: string | undefined
      readonly acceptsLosses: boolean
    }
  | { readonly name: 'backup'; readonly args: BackupArguments }
  | { readonly name: 'restore'; readonly args: RestoreArguments }
  | { readonly name: 'migrate'; readonly args: MigrateArguments }
  | { readonly name: 'sendmail'; readonly args: readonly string[] }
  | { readonly name: 'import'; readonly args: ImportArguments }
  | { readonly name: 'deploy'; readonly args: DeployArguments }
  | { readonly name: 'queue'; readonly args: QueueArguments }
  | { readonly name: 'findings'; readonly args: DaemonChoice & FindingsArguments }
  | { readonly name: 'capture'; readonly args: CaptureArguments }
  | { readonly name: 'logs'; readonly args: LogsArguments }
  | { readonly name: 'usage'; readonly message: string }

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const daemonOptions = { url: text, key: text, json: flag } as const

interface Arguments {
  readonly values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
  readonly operands: readonly string[]
}

interface CommandArguments {
  readonly options: ParseArgsOptionsConfig
  /** Allowed first operands of a command with subcommands. */
  readonly verbs?: readonly string[]
  /** Names of the required operands, in order. */
  readonly operands: readonly string[]
  /** True if further operands may follow. */
  readonly more?: boolean
  readonly make: (this: void, args: Arguments) => Command
}

const commands: Readonly<Record<string, CommandArguments>> = {
  serve: {
    options: { 'ready-file': text },
    operands: [],
    make({ values }) {
      const readyFile = textOf(values['ready-file'])
      if (readyFile === '') throw new UsageError('--ready-file needs a path.')
      return { name: 'serve', readyFile }
    },
  },
  send: {
    options: { ...daemonOptions, from: text, to: { type: 'string', multiple: true }, subject: text, text, html: text },
    operands: [],
    make({ values }) {
      const from = textOf(values['from'])
      const to = [values['to'] ?? []].flat().map(String)
      if (from === undefined || to.length === 0) throw new UsageError('send needs --from and --to.')
      const html = textOf(values['html'])
      const body = { subject: textOf(values['subject']) ?? 'Test', text: textOf(values['text']) ?? (html === undefined ? '-' : ''), html }
      return { name: 'send', args: { ...daemonChoice(values), from, to, ...body, asJson: values['json'] === true } }
    },
  },
  tail: { options: { json: flag }, operands: [], make: ({ values }) => ({ name: 'tail', asJson: values['json'] === true }) },
  logs: {
    options: { trace: text, json: flag },
    operands: [],
    more: true,
    make({ values, operands: [file, surplus] }) {
      const traceId = textOf(values['trace'])?.toLowerCase() ?? ''
      if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(traceId)) throw new UsageError('logs needs --trace and a trace id.')
      if (surplus !== undefined) throw new UsageError('logs reads one file at a time.')
      return { name: 'logs', args: { traceId, file, asJson: values['json'] === true } }
    },
  },
  key: {
    options: { ...daemonOptions, ...keyOptions },
    verbs: ['create'],
    operands: ['a name for the key'],
    make: ({ values, operands: [, label = ''] }) => ({
      name: 'key create',
      args: { ...daemonChoice(values), ...keyArguments(label, values) },
    }),
  },
  promote: {
    options: { ...daemonOptions, ...promoteOptions },
    operands: ['the id of a destination'],
    make: ({ values, operands: [id = ''] }) => ({ name: 'promote', args: { ...daemonChoice(values), ...promoteArguments(id, values) } }),
  },
  import: {
    options: {
      ...daemonOptions,
      ...{ from: text, kind: text, list: text, project: text, 'from-row': text, subject: text, 'dry-run': flag, replace: flag },
    },
    verbs: ['suppressions', 'templates'],
    operands: ['a file'],
    make({ values, operands: [what = '', file = ''] }) {
      const [isTemplates, given] = [what === 'templates', (name: string) => textOf(values[name])]
      const foreign = (isTemplates ? ['kind', 'list', 'from-row'] : ['replace', 'subject']).find((name) => values[name] !== undefined)
      if (foreign !== undefined) throw new UsageError(`--${foreign} belongs to import ${isTemplates ? 'suppressions' : 'templates'}.`)
      const fields = { service: given('from'), kind: given('kind'), list: given('list'), project_id: given('project') }
      const options = { ...fields, from_row: given('from-row'), subject: given('subject') }
      const flags = { isDryRun: values['dry-run'] === true, replaces: values['replace'] === true, asJson: values['json'] === true }
      return {
        name: 'import',
        args: { ...daemonChoice(values), what: isTemplates ? 'templates' : 'suppressions', file, options, ...flags },
      }
    },
  },
  queue: {
    options: { ...daemonOptions, ...queueOptions },
    verbs: queueVerbs,
    operands: [],
    make({ values, operands: [verb] }) {
      const args = queueArguments(verb as QueueArguments['verb'], values, Date.now())
      return { name: 'queue', args: { ...daemonChoice(values), ...args } }
    },
  },
  findings: {
    options: { ...daemonOptions, ...findingsOptions },
    operands: [],
    make: ({ values }) => ({ name: 'findings', args: { ...daemonChoice(values), ...findingsArguments(values) } }),
  },
  deploy: {
    options: { ...daemonOptions, ...deployOptions },
    operands: ['a folder'],
    make: ({ values, operands: [folder = ''] }) => ({
      name: 'deploy',
      args: { ...daemonChoice(values), ...deployArguments(folder, values) },
    }),
  },
  'login-link': {
    options: { next: text },
    operands: ['a mail address'],
    make: ({ values, operands: [email = ''] }) => ({ name: 'login-link', email, next: textOf(values['next']) }),
  },
  backup: {
    options: { since: text, 'passphrase-file': text, force: flag },
    operands: ['a file, or - for the standard output'],
    make: ({ values, operands: [file = ''] }) => ({
      name: 'backup',
      args: {
        ...{ file, since: textOf(values['since']), passphraseFile: textOf(values['passphrase-file']) },
        force: values['force'] === true,
      },
    }),
  },
  restore: {
    options: { into: text, 'passphrase-file': text },
    operands: ['a backup'],
    more: true,
    make({ values, operands }) {
      const into = textOf(values['into'])
      if (into === undefined || into === '') throw new UsageError('restore needs --into and an empty folder.')
      return { name: 'restore', args: { files: operands, into, passphraseFile: textOf(values['passphrase-file']) } }
    },
  },
  migrate: {
    options: { from: text, to: text, replace: flag, ahead: flag },
    operands: [],
    make({ values }) {
      const [from, to] = [textOf(values['from']), textOf(values['to'])]
      if (!from || !to) throw new UsageError('migrate needs --from and --to: a data folder, or postgresql://user@host/database.')
      return { name: 'migrate', args: { from, to, replace: values['replace'] === true, isAhead: values['ahead'] === true } }
    },
  },
  verify: {
    options: { 'passphrase-file': text, 'accept-losses': flag },
    operands: [],
    more: true,
    make({ values, operands: [file, surplus] }) {
      if (surplus !== undefined) throw new UsageError('verify takes one backup at a time.')
      const acceptsLosses = values['accept-losses'] === true
      if (acceptsLosses && file !== undefined) throw new UsageError('--accept-losses applies to the store and not to a backup.')
      return { name: 'verify', file, passphraseFile: textOf(values['passphrase-file']), acceptsLosses }
    },
  },
  capture: {
    options: {
      ...{ 'smtp-port': text, 'http-port': text, json: flag, suppress: flag, verbose: flag },
      ...{ expect: { type: 'string', multiple: true }, 'expect-file': text, wait: text, junit: text },
    },
    operands: [],
    more: true,
    make({ values, operands: command }) {
      const expectations = [values['expect'] ?? []].flat().map(String)
      const [expectationFile, junitFile] = [textOf(values['expect-file']), textOf(values['junit'])]
      if (junitFile !== undefined && expectations.length === 0 && expectationFile === undefined)
        throw new UsageError('--junit needs --expect or --expect-file.')
      const ports = { smtpPort: numberOf(values, 'smtp-port', 0, 65_535), httpPort: numberOf(values, 'http-port', 0, 65_535) }
      const flags = { asJson: values['json'] === true, suppresses: values['suppress'] === true, isVerbose: values['verbose'] === true }
      const expected = { expectations, expectationFile, junitFile, waitSeconds: numberOf(values, 'wait', 5, 3600) }
      return { name: 'capture', args: { ...ports, ...flags, ...expected, command } }
    },
  },
  doctor: { options: { json: flag }, operands: [], make: ({ values }) => ({ name: 'doctor', asJson: values['json'] === true }) },
  setup: { options: setupOptions, operands: [], make: ({ values }) => ({ name: 'setup', args: setupArguments(values) }) },
  config: { options: {}, operands: [], make: () => ({ name: 'config' }) },
  licenses: { options: { sbom: flag }, operands: [], make: ({ values }) => ({ name: 'licenses', asBill: values['sbom'] === true }) },
}

const names = [...Object.keys(commands), 'sendmail', 'operator']

/** Parses the arguments after the program's name. */
export function parseCommandLine(args: readonly string[]): Command {
  if (args[0] === 'help') return helpWith(args.slice(1))
  if (args[0] === 'sendmail') return { name: 'sendmail', args: args.slice(1) } // sendmail has its own options
  const at = args.findIndex((word) => !word.startsWith('-'))
  const name = args.find((word) => names.includes(word)) ?? args[at]
  if (name === undefined) return withoutCommand(args)
  if (name === 'operator') return args[0] === name ? operatorCommand(args.slice(1)) : usage('Write operator first, then its options.')
  if (name === 'sendmail') return usage('Write sendmail first, then its options.')
  const known = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!known) return usage(unknownCommand(name))
  try {
    const rest = args.toSpliced(args.indexOf(name), 1)
    return read(name, known, rest)
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error), name)
  }
}

function read(name: string, { options, verbs, operands, more = false, make }: CommandArguments, args: readonly string[]): Command {
  const { values, positionals } = readOptions({
    args: [...args],
    allowPositionals: true,
    options: { ...options, help: { type: 'boolean', short: 'h' }, version: flag },
  })
  if (values['help'] === true) return { name: 'help', text: commandHelp(name) }
  if (values['version'] === true) return { name: 'version' }
  if (verbs) requireVerb(name, verbs, positionals[0])
  const given = verbs ? positionals.slice(1) : positionals
  const [surplus] = given.slice(operands.length)
  if (surplus !== undefined && !more) throw new UsageError(`${name} takes no ${JSON.stringify(surplus)}.`)
  const missing = operands[given.length]
  if (missing !== undefined) throw new UsageError(`${name} needs ${missing}.`)
  return make({ values, operands: positionals })
}

function requireVerb(name: string, verbs: readonly string[], verb: string | undefined): void {
  if (verb === undefined) throw new UsageError(`${name} needs a subcommand (${verbs.join(', ')}), as in postern ${name} ${verbs[0] ?? ''}.`)
  if (verbs.includes(verb)) return
  const near = closest(verb, verbs)
  throw new UsageError(`${name} has no subcommand ${JSON.stringify(verb)}. ${near ? `Did you mean ${near}?` : `Use ${verbs.join(', ')}.`}`)
}

/** `postern help COMMAND` is `postern COMMAND --help`. */
function helpWith(args: readonly string[]): Command {
  const name = args.find((word) => !word.startsWith('-'))
  if (name === undefined || name === 'help') return { name: 'help', text: helpText }
  if (name === 'operator') return { name: 'help', text: operatorHelp }
  return names.includes(name) ? { name: 'help', text: commandHelp(name) } : usage(unknownCommand(name))
}

function withoutCommand(args: readonly string[]): Command {
  try {
    const options = { help: { type: 'boolean', short: 'h' }, version: flag } as const
    const { values } = readOptions({ args: [...args], options })
    if (values.help) return { name: 'help', text: helpText }
    return values.version ? { name: 'version' } : usage(`The command is missing. Commands: ${names.join(', ')}.`)
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error))
  }
}

function operatorCommand(args: readonly string[]): Command {
  const request = readOperatorArguments(args)
  if (request === 'help') return { name: 'help', text: operatorHelp }
  if ('wrong' in request) return usage(request.wrong, 'operator')
  return { name: 'operator', request }
}

function unknownCommand(name: string): string {
  const near = closest(name, [...names, 'help'])
  return `${JSON.stringify(name)} is not a command. ${near ? `Did you mean ${near}?` : `Commands: ${names.join(', ')}.`}`
}

const textOf = (value: Arguments['values'][string]): string | undefined => (typeof value === 'string' ? value : undefined)
const daemonChoice = (values: Arguments['values']): DaemonChoice => ({ url: textOf(values['url']), key: textOf(values['key']) })

const usage = (message: string, command?: string): Command => ({ name: 'usage', message: `${message} ${helpOf(command)}` })
