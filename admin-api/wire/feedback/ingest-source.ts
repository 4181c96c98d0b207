/** Ingest sources and postoffice mappings on the wire. Spec "Bounce source", "Postoffice mapping". */
import * as z from 'zod'
import { intervalMin, defaultPollSeconds } from '#core/ingest-sources/imap-mailbox.ts'
import { ingestProviders, type ImapConfig, type IngestSource } from '#core/ingest-sources/ingest-source.ts'
import type { HasHealth } from '#core/health/resource-health.ts'
import type { UnusedInput, SourceWithSecret, SourceDetails } from '#core/ingest-sources/ingest-sources.ts'
import type { PostofficeMapping } from '#core/ingest-sources/postoffice-mapping.ts'
import type { SourcePoll } from '#core/ingest-sources/source-status.ts'
import { encoder } from '../fields/codec.ts'
import { healthCode, healthField } from '../insights/health.ts'
import { ignoredReason } from './ingest.ts'
import { filledLine, id, line } from '../fields/text.ts'
import { orNull, wireTime } from '../fields/time.ts'

const provider = z.enum(ingestProviders)

const imapShape = z
  .object({
    host: z.string(),
    port: z.int(),
    username: z.string(),
    mailbox: z.string(),
    poll_interval_seconds: z.int(),
    last_polled_at: wireTime.nullable(),
    last_error: z.string().nullable(),
    last_error_at: wireTime.nullable(),
    skipped_mails: z.int().meta({ description: 'Number of mails skipped because they could not be parsed.' }),
  })
  .meta({ id: 'IngestMailbox', description: 'The password is never returned.' })

const fields = {
  id: z.string(),
  provider,
  label: z.string(),
  mode: z
    .enum(['push', 'imap'])
    .meta({ description: 'imap: reports are also fetched from a mailbox. push: reports are only posted to webhook_url.' }),
  webhook_url: z.string().meta({ description: 'URL for posted events, which must be signed with the secret.' }),
  imap: imapShape.nullable(),
  last_seen_at: wireTime.nullable().meta({ description: 'Time of the latest request with a valid signature, to the minute.' }),
  agent: z.string().nullable().meta({ description: 'Name and version of the agent, if there is one.' }),
  created_at: wireTime,
}

const ingestSourceShape = z.object({ ...fields, ...healthField }).meta({ id: 'IngestSource' })

const sourceWithSecretShape = z
  .object({ ...fields, hmac_secret: z.string().meta({ description: 'Shown only once. Plain text; paste it unchanged.' }) })
  .meta({ id: 'MintedIngestSource' })

const unmatchedShape = z
  .object({
    ...{ delivered: z.int(), deferred: z.int(), bounced: z.int(), complained: z.int() },
    latest: z
      .array(
        z.object({
          type: z.enum(['bounced', 'complained', 'delivered', 'deferred']),
          recipient: z.string().nullable(),
          status: z.string().nullable(),
          diagnostic: z.string().nullable(),
          at: wireTime.meta({ description: 'When matching stops.' }),
          occurred_at: wireTime.nullable(),
          message_id: z.string().nullable(),
        }),
      )
      .meta({ description: 'A sample of the latest unmatched bounces and complaints; empty for keys of one project.' }),
  })
  .meta({
    id: 'UnmatchedReports',
    description:
      'Reports of the last 30 days without a matching message, by type: the mail was sent by another service, or could not be ' +
      'recognized.',
  })

const domainComplaintShape = z.object({ domain: z.string(), complaints: z.int(), last_at: wireTime })
const droppedShape = z.object({ postoffice: z.string(), events: z.int(), last_at: wireTime })
const refusalShape = z.object({
  postoffice: z.string().nullable(),
  direction: z.enum(['in', 'out']),
  peer: z.string(),
  count: z.int(),
  code_class: z.enum(['4xx', '5xx']),
})

const ignoredShape = z.object({
  reason: ignoredReason,
  lines: z.int(),
  last_at: wireTime,
  first: z.array(z.string()).meta({ description: 'Three lines of the latest log that contains such lines.' }),
})

const ingestSourceDetailShape = z
  .object({
    ...fields,
    ...healthField,
    unmatched: unmatchedShape,
    domain_complaints: z
      .array(z.object({ domain: z.string(), complaints: z.int(), last_at: wireTime }))
      .meta({ description: 'Complaints of the last 30 days about a domain, without a message; they create no suppressions.' }),
    dropped_postoffices: z
      .array(z.object({ postoffice: z.string(), events: z.int(), last_at: wireTime }))
      .meta({ description: 'MailEnable: postoffices without a mapping whose events were dropped.' }),
    refusals: z
      .array(refusalShape)
      .meta({ description: 'MailEnable: refusals in the activity log of the last 30 days, most frequent first.' }),
    ignored_lines: z.array(ignoredShape).meta({ description: 'Log lines of the last 30 days without an outcome, by reason.' }),
  })
  .meta({ id: 'IngestSourceDetail' })

export const newIngestSource = z.strictObject({
  provider,
  label: line(100, 'A label that identifies the server.').optional(),
  imap_config: z
    .strictObject({
      host: filledLine(255),
      port: z.int().min(1).max(65_535).optional().meta({ description: '993 (TLS) or 143 (STARTTLS). Defaults to 993.' }),
      username: filledLine(255),
      password: z.string().min(1).max(1024),
      mailbox: filledLine(255).optional().meta({ description: 'Defaults to INBOX.' }),
      poll_interval_seconds: z
        .int()
        .min(intervalMin)
        .max(86_400)
        .optional()
        .meta({ description: `Defaults to ${defaultPollSeconds}.` }),
    })
    .nullable()
    .optional()
    .meta({ description: 'A mailbox to fetch bounces from; for postfix and dovecot.' }),
})

/** Path for the posts of each provider. Dovecot sends bounces as mails; its logs are not supported. */
const paths: Readonly<Record<IngestSource['provider'], string>> = {
  stalwart: '/v1/ingest/stalwart?',
  postfix: '/v1/ingest/logs?source=postfix&',
  exim: '/v1/ingest/logs?source=exim&',
  dovecot: '/v1/ingest/arf?',
  arf: '/v1/ingest/arf?',
  mailenable: '/v1/ingest/mailenable?',
}

const fieldsOf = <Details extends SourceDetails>({ source, ...rest }: Details) => ({ ...source, ...rest })

const mailbox = encoder(imapShape).from<ImapConfig & Partial<SourcePoll>>({ skipped_mails: ({ skipped }) => skipped ?? 0 })

interface SourceUrls {
  /** Public URL of the service. */
  readonly baseUrl: string
}

const code = {
  mode: ({ imap }: SourceFields) => (imap ? ('imap' as const) : ('push' as const)),
  webhook_url: ({ provider, id }: SourceFields, { baseUrl }: SourceUrls) => `${baseUrl}${paths[provider]}source_id=${id}`,
  imap: ({ imap, poll }: SourceFields) => imap && mailbox.encode({ ...imap, ...poll }),
  last_seen_at: ({ seen }: SourceFields) => orNull(seen?.at),
  agent: ({ seen }: SourceFields) => seen?.agent ?? null,
}
type SourceFields = IngestSource & Omit<SourceDetails, 'source'>

export const ingestSource = encoder(ingestSourceShape)
  .from<SourceFields & HasHealth, SourceUrls>({ ...code, ...healthCode })
  .via(fieldsOf<SourceDetails & HasHealth>)
export const sourceWithSecret = encoder(sourceWithSecretShape)
  .from<SourceFields & { readonly hmacSecret: string }, SourceUrls>(code)
  .via(({ details, secret }: SourceWithSecret) => ({ ...fieldsOf(details), hmacSecret: secret }))

const maxShown = 100

const domainComplaint = encoder(domainComplaintShape).from<UnusedInput['complaints'][number]>()
const dropped = encoder(droppedShape).from<UnusedInput['dropped'][number]>()
const refusal = encoder(refusalShape).from<UnusedInput['refusals'][number]>({
  code_class: ({ codeClass }) => (codeClass === 4 ? '4xx' : '5xx'),
})
const ignoredLines = encoder(ignoredShape).from<UnusedInput['ignored'][number]>({ first: ({ first }) => [...first] })
const unmatchedReports = encoder(unmatchedShape)
  .from<UnusedInput['unmatched']['counts'] & Pick<UnusedInput['unmatched'], 'latest'>>()
  .via(({ counts, latest }: UnusedInput['unmatched']) => ({ ...counts, latest }))

export const sourceDetail = encoder(ingestSourceDetailShape)
  .from<SourceFields & UnusedInput & HasHealth, SourceUrls>({
    ...code,
    ...healthCode,
    unmatched: ({ unmatched }) => unmatchedReports.encode(unmatched),
    domain_complaints: ({ complaints }) => complaints.slice(0, maxShown).map(domainComplaint.encode),
    dropped_postoffices: (source) => source.dropped.map(dropped.encode),
    refusals: ({ refusals }) => refusals.slice(0, maxShown).map(refusal.encode),
    ignored_lines: (source) => source.ignored.map(ignoredLines.encode),
  })
  .via(fieldsOf<SourceDetails & UnusedInput & HasHealth>)

const postofficeMappingShape = z
  .object({
    id: z.string(),
    bounce_source_config_id: z.string(),
    postoffice_name: z.string(),
    project_id: z.string(),
    default_destination_id: z.string().nullable(),
    created_at: wireTime,
    updated_at: wireTime,
  })
  .meta({ id: 'PostofficeMapping' })

const mutable = {
  project_id: id.optional().meta({ description: 'The project whose mail the postoffice sends. Defaults to the project of the key.' }),
  default_destination_id: z
    .string()
    .max(64)
    .nullable()
    .optional()
    .meta({
      description:
        'The destination that uses this server; deliveries are matched with the messages of this destination. An empty string clears ' +
        'it.',
    }),
}

export const newPostofficeMapping = z.strictObject({
  bounce_source_config_id: id,
  postoffice_name: filledLine(255, 'Name as shown in MailEnable. Case-insensitive.'),
  ...mutable,
})

export const postofficeMappingChanges = z.strictObject(mutable)

export const postofficeMapping = encoder(postofficeMappingShape).from<PostofficeMapping>({
  bounce_source_config_id: ({ sourceId }) => sourceId,
  postoffice_name: ({ postoffice }) => postoffice,
})
