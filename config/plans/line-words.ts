/** What lines of invoices are called, in the languages of the dashboard. */
import type { PlanName } from './plans.ts'
import { billableAxes, type Axis } from './prices.ts'

export const invoiceLanguages = ['en', 'de', 'fr', 'it'] as const
export type InvoiceLanguage = (typeof invoiceLanguages)[number]

interface LineWords {
  readonly fee: (plan: PlanName) => string
  readonly feeByDay: (plan: PlanName, days: number, of: number) => string
  readonly axes: Readonly<Record<Axis, string>>
}

const axesInEnglish = Object.fromEntries(Object.entries(billableAxes).map(([axis, { label }]) => [axis, label])) as Record<Axis, string>

const words: Readonly<Record<InvoiceLanguage, LineWords>> = {
  en: {
    fee: (plan) => `Plan ${plan}`,
    feeByDay: (plan, days, of) => `Plan ${plan}, ${days} of ${of} days`,
    axes: axesInEnglish,
  },
  de: {
    fee: (plan) => `Plan ${plan}`,
    feeByDay: (plan, days, of) => `Plan ${plan}, ${days} von ${of} Tagen`,
    axes: {
      sources: 'Aktive Bounce-Quellen, höchstens zugleich',
      inspect_tests: 'Zustelltests',
      traces_stored: 'Gespeicherte Traces, Durchschnitt der Tage',
      smtp_credentials: 'Aktive SMTP-Zugänge, höchstens zugleich',
      team_orgs: 'Erstellte Teams',
      captures: 'Abgefangene Mails',
      vi_notifies: 'Benachrichtigungen von Postfächern',
      smtp_messages: 'Über SMTP versendete Mails',
      pk_sends: 'Sendungen mit veröffentlichbaren Schlüsseln',
      form_submissions: 'Formulareingänge, ohne Spam',
      sends_overage: 'Sendungen über den Plan hinaus, Tag für Tag',
    },
  },
  fr: {
    fee: (plan) => `Forfait ${plan}`,
    feeByDay: (plan, days, of) => `Forfait ${plan}, ${days} jours sur ${of}`,
    axes: {
      sources: 'Sources de rebonds actives, maximum simultané',
      inspect_tests: 'Tests de délivrabilité',
      traces_stored: 'Traces enregistrées, moyenne des jours',
      smtp_credentials: 'Accès SMTP actifs, maximum simultané',
      team_orgs: 'Équipes créées',
      captures: 'Messages capturés',
      vi_notifies: 'Notifications de boîtes',
      smtp_messages: 'Messages envoyés par SMTP',
      pk_sends: 'Envois avec clés publiables',
      form_submissions: 'Réponses de formulaires, sans le spam',
      sends_overage: 'Envois au-delà du forfait, jour par jour',
    },
  },
  it: {
    fee: (plan) => `Piano ${plan}`,
    feeByDay: (plan, days, of) => `Piano ${plan}, ${days} giorni su ${of}`,
    axes: {
      sources: 'Fonti di rimbalzi attive, massimo insieme',
      inspect_tests: 'Test di recapito',
      traces_stored: 'Trace archiviate, media dei giorni',
      smtp_credentials: 'Accessi SMTP attivi, massimo insieme',
      team_orgs: 'Team creati',
      captures: 'Messaggi catturati',
      vi_notifies: 'Notifiche di caselle',
      smtp_messages: 'Messaggi inviati con SMTP',
      pk_sends: 'Invii con chiavi pubblicabili',
      form_submissions: 'Risposte ai moduli, senza spam',
      sends_overage: 'Invii oltre il piano, giorno per giorno',
    },
  },
}

export interface NamedLine {
  readonly axis: Axis | 'monthly_fee'
  /** As it was written when the invoice was made. */
  readonly label: string
  /** Of a fee; null where an older invoice does not say it. */
  readonly plan: PlanName | null
  readonly quantity: number
  readonly per: number
}

export function lineLabel(language: InvoiceLanguage, { axis, label, plan, quantity, per }: NamedLine): string {
  const { fee, feeByDay, axes } = words[language]
  if (axis !== 'monthly_fee') return axes[axis]
  if (plan === null) return label
  return per > 1 ? feeByDay(plan, quantity, per) : fee(plan)
}
