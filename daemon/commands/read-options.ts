/** Parses the options of a command with `parseArgs` of Node. Errors name the option and the expected value. */
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { closest } from '#config/texts/closest.ts'

/** Invalid arguments; the message gives the reason. */
export class UsageError extends Error {}

/** Throws `UsageError`. */
export function readOptions<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(sentenceOf(error as NodeJS.ErrnoException, Object.keys(config.options ?? {})), { cause: error })
  }
}

/** Returns the whole number in an option. Throws `UsageError`. */
export function numberOf(values: Readonly<Record<string, unknown>>, name: string, usual: number, most: number): number {
  const given = values[name]
  if (typeof given !== 'string') return usual
  if (!/^\d{1,5}$/.test(given) || Number(given) > most) throw new UsageError(`--${name} must be a whole number up to ${most}.`)
  return Number(given)
}

function sentenceOf({ code, message }: NodeJS.ErrnoException, known: readonly string[]): string {
  const [, quoted = ''] = /'([^']+)'/.exec(message) ?? []
  const option = quoted.replace(/^-\w, /, '').replace(/[ =].*$/s, '')
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const near = closest(option.replace(/^-+/, ''), known)
    return `Unknown option ${option}. ${near === undefined ? `Options: ${known.map((name) => `--${name}`).join(', ')}.` : `Did you mean --${near}?`}`
  }
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') {
    if (message.includes('does not take')) return `${option} takes no value.`
    return `${option} needs a value. If the value begins with a hyphen, write ${option}=-VALUE.`
  }
  return code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL' ? `${JSON.stringify(quoted)} is an unexpected argument.` : message
}
