/** The words of the pages on the way in, in the language of who reads them. */
import type { IncomingHttpHeaders } from 'node:http'
import { languageOf, type Language } from '../layout/language.ts'
import { de as deMail } from '../messages/words/de.ts'
import { en as enMail, type MessageWords } from '../messages/words/en.ts'
import { fr as frMail } from '../messages/words/fr.ts'
import { it as itMail } from '../messages/words/it.ts'
import { de as deOrganization } from '../organizations/words/de.ts'
import { en as enOrganization, type OrganizationWords } from '../organizations/words/en.ts'
import { fr as frOrganization } from '../organizations/words/fr.ts'
import { it as itOrganization } from '../organizations/words/it.ts'
import { de as deOwn } from './own.de.ts'
import { en as enOwn, type OwnWords } from './own.en.ts'
import { fr as frOwn } from './own.fr.ts'
import { it as itOwn } from './own.it.ts'
import { de as deTrace } from './trace.de.ts'
import { en as enTrace, type TraceWords } from './trace.en.ts'
import { fr as frTrace } from './trace.fr.ts'
import { it as itTrace } from './trace.it.ts'
import { de } from './way.de.ts'
import { en, type WayWords } from './way.en.ts'
import { fr } from './way.fr.ts'
import { it } from './way.it.ts'

interface WordsOfParts {
  readonly lang: Language
  readonly trace: TraceWords
  readonly organization: OrganizationWords
  readonly mail: MessageWords
}

export type PageWords = WayWords & OwnWords & WordsOfParts

const all: Readonly<Record<Language, PageWords>> = {
  en: { lang: 'en', ...en, ...enOwn, trace: enTrace, organization: enOrganization, mail: enMail },
  de: { lang: 'de', ...de, ...deOwn, trace: deTrace, organization: deOrganization, mail: deMail },
  fr: { lang: 'fr', ...fr, ...frOwn, trace: frTrace, organization: frOrganization, mail: frMail },
  it: { lang: 'it', ...it, ...itOwn, trace: itTrace, organization: itOrganization, mail: itMail },
}

export const wordsIn = (lang: Language): PageWords => all[lang]

export const wordsFor = (headers: IncomingHttpHeaders): PageWords => all[languageOf(headers)]

/** What the service said, in these words; undefined where they do not have it. */
export function saidIn({ known }: PageWords, message: string): string | undefined {
  const name = (Object.keys(en.known) as (keyof typeof en.known)[]).find((each) => en.known[each] === message)
  return name && known[name]
}
