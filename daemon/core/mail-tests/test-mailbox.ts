/** Mailboxes of simulated recipients: delivered mail is captured, so that people and programs find it. */
import { Draft } from '#store/content.ts'
import { newTraceId } from '#store/ids.ts'
import type { Core } from '../core.ts'
import { parseHeaders } from '../submission/doors/headers.ts'
import { labelsOf } from '../submission/labels.ts'
import { traceOfServiceRef } from '../trace/trace-token.ts'
import { traces, type Trace } from '../trace/trace.ts'
import type { TestAccept } from './test-accept.ts'

export interface TestMailboxOptions extends Pick<Core, 'database' | 'secrets'> {
  readonly accept: Pick<TestAccept, 'capture'>
  readonly organizationId: string
  /** Project of mail without a known trace. */
  readonly projectId: string
}

/** Metadata field of a received mail with the trace id of the send. */
export const sentAs = 'sent_as'

export class TestMailbox {
  readonly #options: TestMailboxOptions

  constructor(options: TestMailboxOptions) {
    this.#options = options
  }

  /** Opens a mail for delivery. */
  open(): ReceivedMail {
    return new ReceivedMail(this.#options)
  }

  /** Whether the trace of the send records the delivery to this recipient. Later reports must wait for it. */
  async isRecorded(sendId: string, recipient: string): Promise<boolean> {
    const { database, organizationId } = this.#options
    const sent = await database.get(traces, { organizationId }, sendId)
    return sent === undefined || sent.record.recipients.every(({ address, status }) => address !== recipient || status !== 'queued')
  }
}

/** The trace of the received mail, and the trace of its send; undefined if unknown. */
export interface Kept {
  readonly traceId: string
  readonly sendId: string | undefined
}

/** Maximum size of the header block. */
const maxHead = 256 * 1024

/** A mail during its delivery. */
export class ReceivedMail {
  readonly #options: TestMailboxOptions
  readonly #traceId = newTraceId()
  readonly #draft: Draft
  readonly #head: Uint8Array[] = []
  #isEightBit = false

  constructor(options: TestMailboxOptions) {
    this.#options = options
    this.#draft = new Draft(options.database, options.organizationId, this.#traceId)
  }

  /** Stores the next octets, which must not change afterwards. */
  write(chunk: Uint8Array): void | Promise<void> {
    if (this.#draft.size < maxHead) this.#head.push(chunk)
    this.#isEightBit ||= chunk.some((octet) => octet > 127)
    return this.#draft.write(chunk)
  }

  /** Returns the header block with its last line break, possibly with a part of the body. */
  head(): Buffer {
    return Buffer.concat(this.#head)
  }

  discard(): Promise<void> {
    return this.#draft.discard()
  }

  /** Captures the mail for these recipients; resolves when it is durable. */
  async keep(mailFrom: string, rcptTo: readonly string[]): Promise<Kept> {
    const { database, secrets, organizationId, accept } = this.#options
    const head = this.head()
    const reference = /^X-Service-Ref: ([0-9a-f]+)\r?$/im.exec(head.toString('latin1'))?.[1] ?? ''
    const sendId = traceOfServiceRef(secrets, reference)
    const sent = sendId === undefined ? undefined : (await database.get(traces, { organizationId }, sendId))?.record
    const projectId = sent?.projectId ?? this.#options.projectId
    const submittedBy = sent?.submittedBy ?? 'mail-test'
    const parsed = parseHeaders(head)
    await accept.capture({
      ...{ door: sent?.door ?? 'smtp', projectId, traceId: this.#traceId, mailFrom, rcptTo, submittedBy, draft: this.#draft },
      principal: { organizationId, projectId, bound: true, scopes: ['api:send'], credentialId: submittedBy },
      facts: {
        ...{ prefix: '', subject: parsed.subject, messageId: parsed.messageId, headerFrom: parsed.from },
        ...{ headerAddresses: parsed.addresses, hasAttachment: parsed.hasAttachment },
        eightBit: this.#isEightBit,
      },
      labels: labelsOf(withSend(sent)),
    })
    return { traceId: this.#traceId, sendId: sent?.id }
  }
}

/** Returns the labels of the send with its trace id. */
const withSend = (sent: Trace | undefined): Pick<Trace, 'tags' | 'metadata'> =>
  sent ? { tags: sent.tags, metadata: { ...sent.metadata, [sentAs]: sent.id } } : {}
