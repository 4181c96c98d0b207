/**
 * The message of an attempt for vendors. Collects the content once, parses its fields once, and names only recipients that may see each
 * other.
 */
import type { DeliveryJob } from '#core/delivery/transport.ts'
import type { MessageParts } from '#ingest/mime/message-parts.ts'
import type { PartsReader } from '#ingest/messages/parts-reader.ts'
import { Failure } from '../../attempt-failure.ts'
import { addressed } from './message-fields.ts'
import type { MessageFields, OutgoingMessage } from './vendor.ts'

/** The message cannot be converted for a provider without MIME. A retry would fail too. */
export class Unreadable extends Failure {
  constructor(sentence: string) {
    super('message_unreadable', 'body', sentence)
  }
}

/** Content of a job. Throws `Failure` if reading or parsing fails. */
export class Content {
  readonly #job: DeliveryJob
  readonly #reader: Pick<PartsReader, 'read'>
  #mime: Promise<Buffer> | undefined
  #parts: Promise<MessageParts> | undefined

  constructor(job: DeliveryJob, reader: Pick<PartsReader, 'read'>) {
    this.#job = job
    this.#reader = reader
  }

  mime(): Promise<Buffer> {
    return (this.#mime ??= gather(this.#job))
  }

  parts(): Promise<MessageParts> {
    return (this.#parts ??= this.#read())
  }

  async #read(): Promise<MessageParts> {
    const result = await this.#reader.read(await this.mime(), this.#job.organizationId ?? '')
    if (result.ok) return result.parts
    throw result.lasting ? new Unreadable(result.sentence) : new Failure('content_failed', 'body', result.sentence)
  }
}

/** The message of a request. `reached` is valid after the request was created. */
export class Outgoing implements OutgoingMessage {
  readonly traceId: string
  readonly mailFrom: string
  readonly rcptTo: readonly string[]
  readonly mime: () => Promise<Buffer>
  readonly fields: () => Promise<MessageFields>
  /** Recipients that the request reaches. */
  reached: readonly string[]

  constructor({ traceId, mailFrom }: DeliveryJob, rcptTo: readonly string[], content: Content) {
    this.traceId = traceId
    this.mailFrom = mailFrom
    this.rcptTo = rcptTo
    this.reached = rcptTo
    this.mime = () => content.mime()
    this.fields = async () => {
      const { fields, reached } = addressed(await content.parts(), mailFrom, rcptTo)
      this.reached = reached
      return fields
    }
  }
}

async function gather(job: DeliveryJob): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of job.content()) chunks.push(chunk)
  } catch {
    throw new Failure('content_failed', 'body')
  }
  return Buffer.concat(chunks)
}
