/** The mails of `fixtures/bounces` and their expectations; its README.md explains the fields. */
import { readdirSync, readFileSync } from 'node:fs'

export interface Expected {
  readonly accept: readonly string[]
  readonly status_mode: 'exact' | 'class' | 'none'
  readonly status_accept: readonly string[]
  readonly class_accept: readonly string[]
  readonly action_accept: readonly string[]
  /** The collection's word for the reason, and whether it considers the address invalid. */
  readonly reason?: string | undefined
  readonly hard?: boolean | undefined
}

export interface ExpectedMail {
  readonly file: string
  readonly kind: 'bounce' | 'delayed' | 'delivered' | 'feedback' | 'auto_reply' | 'none'
  readonly expect: readonly Expected[]
}

const folder = new URL('../../fixtures/bounces/', import.meta.url)

export const octetsOf = (file: string): Buffer => readFileSync(new URL(file, folder))

export const corpus = (): readonly ExpectedMail[] =>
  (JSON.parse(octetsOf('expectations.json').toString()) as { files: ExpectedMail[] }).files

/** Every mail of the corpus, and the mails written for Postern. */
export const allMails = (): string[] => [
  ...corpus().map(({ file }) => file),
  ...readdirSync(new URL('made/', folder)).map((name) => `made/${name}`),
]
