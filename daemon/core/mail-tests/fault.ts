/** Recipients that misbehave on purpose, known by their local part, in an instance for mail tests. Pure. */

/**
 * `defer`: refused for a while. `refuse`: refused for good. `bounce`: the same to who submits by SMTP, and a report at once to all
 * others. `slow`: takes its time. `dsn`, `complaint`: taken, and reported later.
 */
export type FaultKind = 'defer' | 'refuse' | 'bounce' | 'slow' | 'dsn' | 'complaint'

export interface Fault {
  readonly kind: FaultKind
  /** Of `defer`: how often. Of `refuse` and `bounce`: the SMTP reply code. Of the others: seconds. */
  readonly amount: number
}

interface Amounts {
  readonly usual: number
  readonly least: number
  readonly most: number
}

const replyCodes: Amounts = { usual: 550, least: 500, most: 599 }

/** What the number after the plus sign may be; another one counts as none. */
export const faultAmounts: Readonly<Record<FaultKind, Amounts>> = {
  defer: { usual: 1, least: 1, most: 1000 },
  refuse: replyCodes,
  bounce: replyCodes,
  slow: { usual: 5, least: 0, most: 120 },
  dsn: { usual: 1, least: 0, most: 3600 },
  complaint: { usual: 1, least: 0, most: 3600 },
}

const spelling = /^(defer|refuse|bounce|slow|dsn|complaint)(?:\+(\d{1,4}(?!\d))?[^@]*)?@/i

/** The fault of an address such as `defer+2@any.example` or `defer+2.signup@any.example`; undefined for all others. */
export function faultOf(address: string): Fault | undefined {
  const [, name, digits] = spelling.exec(address) ?? []
  if (name === undefined) return undefined
  const kind = name.toLowerCase() as FaultKind
  const { usual, least, most } = faultAmounts[kind]
  const amount = digits === undefined ? usual : Number(digits)
  return { kind, amount: amount >= least && amount <= most ? amount : usual }
}
