/** The `postern` command line: words in, a command out. Reads nothing and does nothing. */
import { parseArgs } from 'node:util'
import { closest } from '#config/closest.ts'
import { readOperatorWords, type OperatorRequest } from './operator-words.ts'

/** What the caller wants. `usage` is an error in the words; the process ends with 64. */
export type Command =
  | { readonly name: 'serve'; readonly readyFile: string | undefined }
  | { readonly name: 'verify' | 'doctor' | 'config' | 'help' | 'operator help' | 'version' }
  | { readonly name: 'operator'; readonly request: OperatorRequest }
  | { readonly name: 'login-link'; readonly email: string }
  | { readonly name: 'usage'; readonly message: string }

const names = ['serve', 'login-link', 'verify', 'doctor', 'config', 'operator'] as const

/** Printed for `--help`. */
export const helpText = `Usage: postern COMMAND

  serve [--ready-file PATH]  run the daemon in the foreground until SIGTERM;
                             PATH receives its real addresses as JSON once it is ready
  login-link ADDRESS         print a link that signs this mail address in
  verify                     check that records and indexes of a stopped daemon's data agree
  doctor                     check this machine and the configuration
  config                     print the effective configuration, secrets masked
  operator WHAT              plans, flags, prices and invoices of all organizations;
                             postern operator --help tells more

  --help, --version

Settings come from the JSON file that POSTERN_CONFIG names and from POSTERN_* variables; see config/settings.md.
`

/** Reads the words after the program's name. */
export function parseCommandLine(words: readonly string[]): Command {
  if (words[0] === 'operator') return operatorCommand(words.slice(1))
  const parsed = parseWords(words)
  if (typeof parsed === 'string') return usage(parsed)
  const { values, positionals } = parsed
  if (values.help) return { name: 'help' }
  if (values.version) return { name: 'version' }
  const [name, ...operands] = positionals
  if (name === undefined) return usage(`Say what to do: ${names.join(', ')}.`)
  const known = names.find((candidate) => candidate === name)
  if (known === 'operator') return usage('operator comes before its options.')
  if (!known) return usage(unknownCommand(name))
  const email = known === 'login-link' ? operands.shift() : undefined
  const [surplus] = operands
  if (surplus !== undefined) return usage(`${known} takes no ${JSON.stringify(surplus)}.`)
  const readyFile = values['ready-file']
  if (known === 'serve') return readyFile === '' ? usage('--ready-file needs a path.') : { name: known, readyFile }
  if (known === 'login-link' && readyFile === undefined)
    return email === undefined ? usage('login-link needs a mail address.') : { name: known, email }
  return readyFile === undefined && known !== 'login-link' ? { name: known } : usage(`--ready-file belongs to serve, not to ${known}.`)
}

function operatorCommand(words: readonly string[]): Command {
  const read = readOperatorWords(words)
  if (read === 'help') return { name: 'operator help' }
  if ('wrong' in read) return { name: 'usage', message: `${read.wrong} Try postern operator --help.` }
  return { name: 'operator', request: read }
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { 'ready-file': { type: 'string' }, help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } },
    })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function unknownCommand(name: string): string {
  const near = closest(name, names)
  return `${JSON.stringify(name)} is not a command; ${near ? `did you mean ${near}?` : `there are ${names.join(', ')}.`}`
}

const usage = (message: string): Command => ({ name: 'usage', message: `${message} Try postern --help.` })
