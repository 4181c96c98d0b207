/** The message of a trace on the wire. */
import * as z from 'zod'
import type { TraceMessage } from '#core/capture/reading/trace-messages.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { encoder } from '../fields/codec.ts'
import { contentFields, contentsOf, viewUrl } from '../fields/reading.ts'

const traceMessageShape = z
  .object({
    trace_id: z.uuidv4(),
    subject: z.string(),
    from: z.string(),
    to: z.array(z.string()),
    size: z.int().meta({ description: 'Octets of the raw source.' }),
    capture_id: z
      .string()
      .nullable()
      .meta({ description: 'Id of the captured message in its inboxes; null if the message was not captured.' }),
    raw_url: z.string(),
    view_url: viewUrl,
    ...contentFields,
  })
  .meta({ id: 'TraceMessage' })

/** A message with the URLs of the message and of its page. */
interface ShownMessage extends TraceMessage {
  readonly url: string
  readonly viewUrl: string
}

const messageOf = ({ trace, read, url, viewUrl: view }: ShownMessage) => ({
  traceId: trace.id,
  subject: decodeEncodedWords(trace.subject),
  from: trace.headerFrom || trace.mailFrom,
  to: trace.recipients.map(({ address }) => address),
  size: Buffer.byteLength(trace.prefix) + trace.content.size,
  captureId: trace.capture?.id ?? null,
  rawUrl: `${url}/raw`,
  viewUrl: view,
  ...contentsOf(read, url),
})

export const traceMessage = encoder(traceMessageShape).from<ReturnType<typeof messageOf>>().via(messageOf)
