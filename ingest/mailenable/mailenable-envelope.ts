/** The common part of all requests of the MailEnable agent: its identity, and fields that are validated individually. */
import { withCommas } from '#config/texts/formats.ts'
import type { FieldProblem } from '#core/refusals.ts'
import { objectIn, parseBody, unreadable, type JsonObject, type Unreadable } from '../events/json-value.ts'

export interface Agent {
  readonly name: string | null
  readonly version: string | null
  readonly hostname: string | null
}

export interface Envelope {
  readonly agent: Agent
  readonly fields: Fields
}

const maxWord = 255

/** Reads the fields of one object and collects their problems. A missing field equals null. */
export class Fields {
  readonly problems: FieldProblem[] = []
  readonly #fields: JsonObject

  constructor(fields: JsonObject) {
    this.#fields = fields
  }

  value(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined
  }

  text(name: string, max = maxWord): string | null {
    const value = this.value(name)
    if (value == null || value === '') return null
    if (typeof value === 'string' && value.length <= max) return value
    return this.#wrong(name, `must be text of at most ${withCommas(max)} characters`)
  }

  integer(name: string, least: number, most: number): number | null {
    const value = this.value(name)
    if (value == null) return null
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
    return this.#wrong(name, `must be a whole number from ${String(least)} to ${String(most)}`)
  }

  oneOf<T extends string>(name: string, words: readonly T[]): T | null {
    const value = this.value(name)
    if (value == null) return null
    return words.find((word) => word === value) ?? this.#wrong(name, `must be one of ${words.join(', ')}`)
  }

  list(name: string): readonly unknown[] | null {
    const value = this.value(name)
    if (value == null) return null
    return Array.isArray(value) ? value : this.#wrong(name, 'must be a list')
  }

  /** Adds a problem that the caller found. Returns null. */
  note(path: string, message: string): null {
    return this.#wrong(path, message)
  }

  #wrong(path: string, message: string): null {
    this.problems.push({ path, message })
    return null
  }
}

/** Reads the outermost object of a body of version 1. */
export function readEnvelope(body: Uint8Array): Envelope | Unreadable {
  const parsed = parseBody(body)
  if ('problems' in parsed) return parsed
  const object = objectIn(parsed.value)
  if (!object) return unreadable('body', 'must be a JSON object')
  const fields = new Fields(object)
  const version = fields.value('version')
  if (version !== undefined && version !== 1) return unreadable('version', 'must be 1')
  const agent = new Fields(objectIn(fields.value('agent')) ?? {})
  return { fields, agent: { name: agent.text('name'), version: agent.text('version'), hostname: agent.text('hostname') } }
}

export interface Healthcheck {
  readonly agent: Agent
  readonly nonce: string | null
  /** The agent's clock in milliseconds since 1970; null if missing. */
  readonly sentAt: number | null
}

/** Reads the body of a health check, which an installer sends to test its secret. */
export function readHealthcheck(body: Uint8Array): Healthcheck | Unreadable {
  const envelope = readEnvelope(body)
  if ('problems' in envelope) return envelope
  const { fields, agent } = envelope
  const nonce = fields.text('nonce')
  const sentAt = Date.parse(fields.text('sent_at') ?? '')
  return fields.problems.length > 0 ? { problems: fields.problems } : { agent, nonce, sentAt: Number.isNaN(sentAt) ? null : sentAt }
}
