/** Ingest sources: reporters of mail outcomes, each with a secret. Spec "Bounce source". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { SecretBox, SealedSecret } from '../access/secret-box.ts'

/** Identifies a source without its record. */
export interface SourceRef {
  readonly organizationId: string
  readonly sourceId: string
}

export const ingestProviders = ['stalwart', 'postfix', 'exim', 'dovecot', 'arf', 'mailenable'] as const
export type IngestProvider = (typeof ingestProviders)[number]

/** Providers whose reports can be fetched from a mailbox. */
export const polledProviders: readonly IngestProvider[] = ['postfix', 'dovecot']

/** A mailbox with reports. */
export interface ImapConfig {
  readonly host: string
  /** Port 143 starts in clear text and must offer STARTTLS; every other port uses TLS from the first octet. */
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
  /** Key of the HMAC over posted bodies; see `openHmacSecret`. */
  sealedSecret: z.string(),
  /** Null if nothing is fetched. */
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

/** A source of the whole organization. Revoking a source deletes it. */
export type IngestSource = Immutable<z.infer<typeof schema>>

export const ingestSources = defineRecord<IngestSource>({
  name: 'ingest_source',
  schema,
  isTracked: true,
  lookups: { id: ({ id }) => [[id]] },
})

/** Work name for an added or removed mailbox. See `Database.onWork`. */
export const mailboxWork = 'ingest.mailbox'

export const hmacSecretContext = (id: string): string => `ingest_source/${id}/hmac`
export const imapPasswordContext = (id: string): string => `ingest_source/${id}/imap`

/** Returns the HMAC key in the operator's spelling; undefined if it was sealed with another master key. */
export const openHmacSecret = (secrets: SecretBox, { id, sealedSecret }: IngestSource): string | undefined =>
  secrets.open(sealedSecret, hmacSecretContext(id))

/** Returns the mailbox password; undefined without a mailbox or if it was sealed with another master key. */
export const openImapPassword = (secrets: SecretBox, { id, imap }: IngestSource): string | undefined =>
  imap ? secrets.open(imap.sealedPassword, imapPasswordContext(id)) : undefined
