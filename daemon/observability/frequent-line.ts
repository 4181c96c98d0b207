/**
 * Log line that every message writes. Its fields are known in advance, so it is built from prepared pieces instead of cleaning each field.
 * The output is the same; see `logging.ts`.
 */
import pino from 'pino'
import { cleanText } from './clean-text.ts'
import { isSecretName, type Logger } from './logging.ts'

type Value = string | number | undefined

/** Text that needs no escaping in JSON. */
const plain = /^[ !#-[\]-~]{0,200}$/

export class FrequentLine<Name extends string> {
  readonly #logger: Logger
  readonly #fields: readonly (readonly [Name, string])[]
  readonly #end: string
  #second = { number: 0, text: '' }

  /** Creates a line of level `info`. Throws for a field name whose values are not logged. */
  constructor(logger: Logger, message: string, names: readonly Name[]) {
    const secret = names.find(isSecretName)
    if (secret !== undefined) throw new TypeError(`the values of ${secret} are not logged`)
    this.#logger = logger
    this.#fields = names.map((name) => [name, `,${JSON.stringify(name)}:`])
    this.#end = `,"msg":${JSON.stringify(message)}}\n`
  }

  /** Writes a line. Omits fields without a value. */
  write(values: Readonly<Record<Name, Value>>): void {
    const logger = this.#logger as Logger &
      Readonly<{ [pino.symbols.streamSym]: pino.DestinationStream; [pino.symbols.chindingsSym]: string }>
    if (!logger.isLevelEnabled('info')) return
    let line = `{"level":"info","time":"${this.#timeNow()}"${logger[pino.symbols.chindingsSym]}`
    for (const [name, piece] of this.#fields) {
      const value = values[name]
      if (value !== undefined) line += piece + json(value)
    }
    logger[pino.symbols.streamSym].write(line + this.#end)
  }

  /** Returns the time as `Date.toISOString` does, but formats the date once per second. */
  #timeNow(): string {
    const now = Date.now()
    const number = Math.floor(now / 1000)
    if (number !== this.#second.number) this.#second = { number, text: new Date(number * 1000).toISOString().slice(0, -4) }
    return `${this.#second.text}${String(now % 1000).padStart(3, '0')}Z`
  }
}

function json(value: string | number): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null'
  return plain.test(value) ? `"${value}"` : JSON.stringify(cleanText(value))
}
