/** The words of the page of an invoice. */
import type { IncomingHttpHeaders } from 'node:http'
import { invoiceLanguages, type InvoiceLanguage } from '#config/plans/line-words.ts'
import type { InvoiceState } from '#core/billing/payment/payment.ts'
import { firstLanguage } from '../../pages/layout/first-language.ts'

export interface PageWords {
  readonly lang: InvoiceLanguage
  /** For numbers, amounts and dates. */
  readonly locale: string
  readonly invoice: string
  readonly creditNote: string
  readonly isVoid: string
  readonly date: string
  readonly due: string
  readonly period: string
  readonly until: (first: string, last: string) => string
  readonly organization: string
  readonly reference: string
  readonly reason: string
  readonly payment: string
  readonly states: Readonly<Record<Exclude<InvoiceState, 'void'>, string>>
  readonly columns: readonly [what: string, used: string, included: string, billed: string]
  readonly price: (currency: string) => string
  readonly perDays: (days: number) => string
  readonly net: string
  readonly vat: (percent: string) => string
  readonly total: (currency: string) => string
  readonly byProject: string
  readonly byDay: string
  readonly otherProjects: string
  readonly wholeOrganization: string
}

const en: PageWords = {
  ...{ lang: 'en', locale: 'en-CH', invoice: 'Invoice', creditNote: 'Credit note', isVoid: 'This invoice is void.' },
  ...{ date: 'Date', due: 'Due', period: 'Period', organization: 'Organization', reference: 'Reference', reason: 'Reason' },
  until: (first, last) => `${first} to ${last} (UTC)`,
  payment: 'Payment',
  states: { open: 'open', paid: 'paid', settled: 'nothing owed', uncollectible: 'not collected' },
  columns: ['What', 'Used', 'Included', 'Billed'],
  price: (currency) => `Price in ${currency}`,
  perDays: (days) => `/ ${days} days`,
  net: 'Net',
  vat: (percent) => `VAT ${percent} %`,
  total: (currency) => `Total ${currency}`,
  ...{ byProject: 'By project', byDay: 'By day (UTC)', otherProjects: 'Other projects', wholeOrganization: 'The whole organization' },
}

const de: PageWords = {
  ...{ lang: 'de', locale: 'de-CH', invoice: 'Rechnung', creditNote: 'Gutschrift', isVoid: 'Diese Rechnung ist ungültig.' },
  ...{ date: 'Datum', due: 'Fällig', period: 'Zeitraum', organization: 'Organisation', reference: 'Referenz', reason: 'Grund' },
  until: (first, last) => `${first} bis ${last} (UTC)`,
  payment: 'Zahlung',
  states: { open: 'offen', paid: 'bezahlt', settled: 'nichts geschuldet', uncollectible: 'abgeschrieben' },
  columns: ['Was', 'Genutzt', 'Enthalten', 'Verrechnet'],
  price: (currency) => `Preis in ${currency}`,
  perDays: (days) => `/ ${days} Tage`,
  net: 'Netto',
  vat: (percent) => `MWST ${percent} %`,
  total: (currency) => `Total ${currency}`,
  ...{ byProject: 'Nach Projekt', byDay: 'Nach Tag (UTC)', otherProjects: 'Andere Projekte', wholeOrganization: 'Die ganze Organisation' },
}

const fr: PageWords = {
  ...{ lang: 'fr', locale: 'fr-CH', invoice: 'Facture', creditNote: 'Avoir', isVoid: 'Cette facture est annulée.' },
  ...{ date: 'Date', due: 'Échéance', period: 'Période', organization: 'Organisation', reference: 'Référence', reason: 'Raison' },
  until: (first, last) => `${first} au ${last} (UTC)`,
  payment: 'Paiement',
  states: { open: 'ouverte', paid: 'payée', settled: 'rien à payer', uncollectible: 'abandonnée' },
  columns: ['Quoi', 'Utilisé', 'Inclus', 'Facturé'],
  price: (currency) => `Prix en ${currency}`,
  perDays: (days) => `/ ${days} jours`,
  net: 'Net',
  vat: (percent) => `TVA ${percent} %`,
  total: (currency) => `Total ${currency}`,
  ...{ byProject: 'Par projet', byDay: 'Par jour (UTC)', otherProjects: 'Autres projets', wholeOrganization: 'Toute l’organisation' },
}

const it: PageWords = {
  ...{ lang: 'it', locale: 'it-CH', invoice: 'Fattura', creditNote: 'Nota di credito', isVoid: 'Questa fattura è annullata.' },
  ...{ date: 'Data', due: 'Scadenza', period: 'Periodo', organization: 'Organizzazione', reference: 'Riferimento', reason: 'Motivo' },
  until: (first, last) => `${first} – ${last} (UTC)`,
  payment: 'Pagamento',
  states: { open: 'aperta', paid: 'pagata', settled: 'niente da pagare', uncollectible: 'non riscossa' },
  columns: ['Che cosa', 'Usato', 'Compreso', 'Fatturato'],
  price: (currency) => `Prezzo in ${currency}`,
  perDays: (days) => `/ ${days} giorni`,
  net: 'Netto',
  vat: (percent) => `IVA ${percent} %`,
  total: (currency) => `Totale ${currency}`,
  ...{ byProject: 'Per progetto', byDay: 'Per giorno (UTC)', otherProjects: 'Altri progetti', wholeOrganization: 'Tutta l’organizzazione' },
}

const all: Readonly<Record<InvoiceLanguage, PageWords>> = { en, de, fr, it }

/** In the language of the address, else the first one of the browser, where we have it; else in English. */
export function pageWords(asked: string | undefined, headers: IncomingHttpHeaders): PageWords {
  const wanted = [asked, firstLanguage(headers)].map((tag) => tag?.toLowerCase().split('-')[0])
  const found = wanted.flatMap((tag) => invoiceLanguages.filter((language) => language === tag))
  return all[found[0] ?? 'en']
}
