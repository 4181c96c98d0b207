/** Ingest sources: who may report the outcome of mail, and with which secret. Spec "Bounce source". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { SecretBox, SealedSecret } from '../access/secret-box.ts'

/** A source, where its record is not needed. */
export interface SourceRef {
  readonly organizationId: string
  readonly sourceId: string
}

export const ingestProviders = ['stalwart', 'postfix', 'exim', 'dovecot', 'arf', 'mailenable'] as const
export type IngestProvider = (typeof ingestProviders)[number]

/** Providers whose reports may be fetched from a mailbox. */
export const polledProviders: readonly IngestProvider[] = ['postfix', 'dovecot']

/** A mailbox that reports are fetched from. */
export interface ImapConfig {
  readonly host: string
  /** 143 begins in clear text and must offer STARTTLS; every other port is TLS from the first octet. */
  readonly port: number
  readonly username: string
  /** See `openImapPassword`. */
  readonly sealedPassword: SealedSecret
  readonly mailbox: string
  readonly pollIntervalSeconds: number
}

const schema = z.strictObject({
  id: z.string(),
  provider: z.enum(ingestProviders),
  label: z.string(),
  /** Key of the HMAC over what is posted; see `openHmacSecret`. */
  sealedSecret: z.string(),
  /** null: nothing is fetched. */
  imap: z
    .strictObject({
      host: z.string(),
      port: z.int(),
      username: z.string(),
      sealedPassword: z.string(),
      mailbox: z.string(),
      pollIntervalSeconds: z.int(),
    })
    .nullable(),
  createdAt: z.int(),
})

/** It belongs to the whole organization. A revoked one is gone. */
export type IngestSource = Immutable<z.infer<typeof schema>>

export const ingestSources = defineRecord<IngestSource>({
  name: 'ingest_source',
  schema,
  isTracked: true,
  lookups: { id: ({ id }) => [[id]] },
})

/** A mailbox came, or one went. See `Database.onWork`. */
export const mailboxWork = 'ingest.mailbox'

export const hmacSecretContext = (id: string): string => `ingest_source/${id}/hmac`
export const imapPasswordContext = (id: string): string => `ingest_source/${id}/imap`

/** The key of the HMAC as the operator pasted it; undefined when it was sealed under another master key. */
export const openHmacSecret = (secrets: SecretBox, { id, sealedSecret }: IngestSource): string | undefined =>
  secrets.open(sealedSecret, hmacSecretContext(id))

/** The password of the mailbox; undefined when there is none, or it was sealed under another master key. */
export const openImapPassword = (secrets: SecretBox, { id, imap }: IngestSource): string | undefined =>
  imap ? secrets.open(imap.sealedPassword, imapPasswordContext(id)) : undefined
