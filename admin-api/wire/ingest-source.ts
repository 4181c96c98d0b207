/** Ingest sources and postoffice mappings on the wire. Spec "Bounce source", "Postoffice mapping". */
import * as z from 'zod'
import { intervalMin, intervalUnlessTold } from '#core/ingest-sources/imap-mailbox.ts'
import { ingestProviders, type IngestSource } from '#core/ingest-sources/ingest-source.ts'
import type { LeftOver, NewIngestSource, SourceStory } from '#core/ingest-sources/ingest-sources.ts'
import type { PostofficeMapping } from '#core/ingest-sources/postoffice-mapping.ts'
import { filledLine, id, line } from './text.ts'
import { toWireTime, wireTime } from './time.ts'

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
    skipped_mails: z.int().meta({ description: 'Mails that could not be read and were left out.' }),
  })
  .meta({ id: 'IngestMailbox', description: 'The password is never told.' })

const fields = {
  id: z.string(),
  provider,
  label: z.string(),
  mode: z.enum(['push', 'imap']).meta({ description: 'imap: reports are fetched from a mailbox as well.' }),
  webhook_url: z.string().meta({ description: 'Where to post to; everything is signed with the secret.' }),
  imap: imapShape.nullable(),
  last_seen_at: wireTime.nullable().meta({ description: 'When something with a good signature was posted last, to the minute.' }),
  agent: z.string().nullable().meta({ description: 'Name and version of the agent, where there is one.' }),
  created_at: wireTime,
}

export const ingestSourceShape = z.object(fields).meta({ id: 'IngestSource' })

export const mintedSourceShape = z
  .object({ ...fields, hmac_secret: z.string().meta({ description: 'Shown this once. Plain text, to be pasted as it is.' }) })
  .meta({ id: 'MintedIngestSource' })

const unmatchedShape = z
  .object({
    ...{ delivered: z.int(), deferred: z.int(), bounced: z.int(), complained: z.int() },
    latest: z
      .array(
        z.object({
          type: z.enum(['bounced', 'complained', 'delivered', 'deferred']),
          at: wireTime.meta({ description: 'When it was given up.' }),
          occurred_at: wireTime.nullable(),
          recipient: z.string().nullable(),
          message_id: z.string().nullable(),
          status: z.string().nullable(),
          diagnostic: z.string().nullable(),
        }),
      )
      .meta({ description: 'Some of the latest bounces and complaints among them; none for keys of one project.' }),
  })
  .meta({
    id: 'UnmatchedReports',
    description: 'Reports of the last 30 days that fitted no message, by type: mail that was not sent here, or that was not recognised.',
  })

export const ingestSourceDetailShape = z
  .object({
    ...fields,
    unmatched: unmatchedShape,
    domain_complaints: z
      .array(z.object({ domain: z.string(), complaints: z.int(), last_at: wireTime }))
      .meta({ description: 'Complaints of the last 30 days about a domain and no message in particular; they suppress nobody.' }),
    dropped_postoffices: z
      .array(z.object({ postoffice: z.string(), events: z.int(), last_at: wireTime }))
      .meta({ description: 'MailEnable: postoffices without a mapping, of which events were dropped.' }),
    refusals: z
      .array(
        z.object({
          postoffice: z.string().nullable(),
          direction: z.enum(['in', 'out']),
          code_class: z.enum(['4xx', '5xx']),
          peer: z.string(),
          count: z.int(),
        }),
      )
      .meta({ description: 'MailEnable: refusals in the activity log of the last 30 days, the most frequent first.' }),
  })
  .meta({ id: 'IngestSourceDetail' })

export const newIngestSourceBody = z.strictObject({
  provider,
  label: line(100, 'For people: which server it is.').optional(),
  imap_config: z
    .strictObject({
      host: filledLine(255),
      port: z.int().min(1).max(65_535).optional().meta({ description: '993 (TLS) or 143 (STARTTLS); 993 unless told.' }),
      username: filledLine(255),
      password: z.string().min(1).max(1024),
      mailbox: filledLine(255).optional().meta({ description: 'INBOX unless told.' }),
      poll_interval_seconds: z
        .int()
        .min(intervalMin)
        .max(86_400)
        .optional()
        .meta({ description: `${intervalUnlessTold} unless told.` }),
    })
    .nullable()
    .optional()
    .meta({ description: 'A mailbox to fetch bounces from; for postfix and dovecot.' }),
})

export const toNewIngestSource = ({ imap_config: imap, ...rest }: z.output<typeof newIngestSourceBody>): NewIngestSource => ({
  ...rest,
  imap: imap ? { ...imap, pollIntervalSeconds: imap.poll_interval_seconds } : undefined,
})

/** Where each provider posts to. Dovecot writes bounces as mails and no log that is read here. */
const paths: Readonly<Record<IngestSource['provider'], string>> = {
  stalwart: '/v1/ingest/stalwart?',
  postfix: '/v1/ingest/logs?source=postfix&',
  dovecot: '/v1/ingest/arf?',
  arf: '/v1/ingest/arf?',
  mailenable: '/v1/ingest/mailenable?',
}

const timeOrNull = (at: number | null | undefined): string | null => (at == null ? null : toWireTime(at))

export const toWireSource = ({ source, seen, poll }: SourceStory, baseUrl: string): z.input<typeof ingestSourceShape> => ({
  id: source.id,
  provider: source.provider,
  label: source.label,
  mode: source.imap ? 'imap' : 'push',
  webhook_url: `${baseUrl}${paths[source.provider]}source_id=${source.id}`,
  imap: source.imap
    ? {
        host: source.imap.host,
        port: source.imap.port,
        username: source.imap.username,
        mailbox: source.imap.mailbox,
        poll_interval_seconds: source.imap.pollIntervalSeconds,
        last_polled_at: timeOrNull(poll?.lastPolledAt),
        last_error: poll?.lastError ?? null,
        last_error_at: timeOrNull(poll?.lastErrorAt),
        skipped_mails: poll?.skipped ?? 0,
      }
    : null,
  last_seen_at: timeOrNull(seen?.at),
  agent: seen?.agent ?? null,
  created_at: toWireTime(source.createdAt),
})

const shownMax = 100

export const toWireSourceDetail = (
  story: SourceStory,
  { dropped, refusals, unmatched, complaints }: LeftOver,
  baseUrl: string,
): z.input<typeof ingestSourceDetailShape> => ({
  ...toWireSource(story, baseUrl),
  unmatched: {
    ...unmatched.counts,
    latest: unmatched.latest.map(({ at, occurredAt, messageId, ...told }) => ({
      ...told,
      ...{ at: toWireTime(at), occurred_at: timeOrNull(occurredAt), message_id: messageId },
    })),
  },
  domain_complaints: complaints.slice(0, shownMax).map(({ lastAt, ...told }) => ({ ...told, last_at: toWireTime(lastAt) })),
  dropped_postoffices: dropped.map(({ postoffice, events, lastAt }) => ({ postoffice, events, last_at: toWireTime(lastAt) })),
  refusals: refusals.slice(0, shownMax).map(({ postoffice, direction, codeClass, peer, count }) => ({
    ...{ postoffice, direction, peer, count },
    code_class: codeClass === 4 ? '4xx' : '5xx',
  })),
})

export const postofficeMappingShape = z
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
  project_id: id.optional().meta({ description: 'The project whose mail the postoffice sends; that of the key unless told.' }),
  default_destination_id: z.string().max(64).nullable().optional().meta({
    description: 'The destination that leads to this server; deliveries are looked for among its messages. Empty text clears it.',
  }),
}

export const newPostofficeMappingBody = z.strictObject({
  bounce_source_config_id: id,
  postoffice_name: filledLine(255, 'As MailEnable shows it; compared without case.'),
  ...mutable,
})

export const postofficeMappingChangesBody = z.strictObject(mutable)

export const toMappingChanges = (body: z.output<typeof postofficeMappingChangesBody>) => ({
  projectId: body.project_id,
  defaultDestinationId: body.default_destination_id,
})

export const toWireMapping = (mapping: PostofficeMapping): z.input<typeof postofficeMappingShape> => ({
  id: mapping.id,
  bounce_source_config_id: mapping.sourceId,
  postoffice_name: mapping.postoffice,
  project_id: mapping.projectId,
  default_destination_id: mapping.defaultDestinationId,
  created_at: toWireTime(mapping.createdAt),
  updated_at: toWireTime(mapping.updatedAt),
})
