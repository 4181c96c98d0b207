/** The message of one attempt as vendors see it: gathered once, its fields made once, with only recipients that may know of each other. */
import type { DeliveryJob } from '#core/delivery/transport.ts'
import type { MessageParts } from '#ingest/mime/message-parts.ts'
import type { PartsReader } from '#ingest/messages/parts-reader.ts'
import { Failure } from '../../attempt-failure.ts'
import { addressed } from './message-fields.ts'
import type { MessageFields, OutgoingMessage } from './vendor.ts'

/** A message that no provider without MIME can be given; trying again would end alike. */
export class Unreadable extends Failure {
  constructor(sentence: string) {
    super('message_unreadable', 'body', sentence)
  }
}

/** Throws `Failure` when the content cannot be had or taken apart. */
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

/** The message of one request. `reached` is known when the request has been made. */
export class Outgoing implements OutgoingMessage {
  readonly traceId: string
  readonly mailFrom: string
  readonly rcptTo: readonly string[]
  readonly mime: () => Promise<Buffer>
  readonly fields: () => Promise<MessageFields>
  /** Who of the recipients gets this message from the request. */
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
