/** Simulated faults of recipients by their local part, in an instance for mail tests. Pure. */

/**
 * `defer`: temporarily refused. `refuse`: permanently refused. `bounce`: permanently refused for SMTP submissions, and an immediate report
 * for all others. `slow`: delayed reply. `dsn`, `complaint`: accepted, with a later report.
 */
export type FaultKind = 'defer' | 'refuse' | 'bounce' | 'slow' | 'dsn' | 'complaint'

export interface Fault {
  readonly kind: FaultKind
  /** For `defer`, the number of refusals. For `refuse` and `bounce`, the SMTP reply code. For others, seconds. */
  readonly amount: number
}

interface Amounts {
  readonly usual: number
  readonly least: number
  readonly most: number
}

const replyCodes: Amounts = { usual: 550, least: 500, most: 599 }

/** Range of the number after the plus sign; other numbers are ignored. */
export const faultAmounts: Readonly<Record<FaultKind, Amounts>> = {
  defer: { usual: 1, least: 1, most: 1000 },
  refuse: replyCodes,
  bounce: replyCodes,
  slow: { usual: 5, least: 0, most: 120 },
  dsn: { usual: 1, least: 0, most: 3600 },
  complaint: { usual: 1, least: 0, most: 3600 },
}

const spelling = /^(defer|refuse|bounce|slow|dsn|complaint)(?:\+(\d{1,4}(?!\d))?[^@]*)?@/i

/** Returns the fault of an address such as `defer+2@any.example` or `defer+2.signup@any.example`; undefined for other addresses. */
export function faultOf(address: string): Fault | undefined {
  const [, name, digits] = spelling.exec(address) ?? []
  if (name === undefined) return undefined
  const kind = name.toLowerCase() as FaultKind
  const { usual, least, most } = faultAmounts[kind]
  const amount = digits === undefined ? usual : Number(digits)
  return { kind, amount: amount >= least && amount <= most ? amount : usual }
}
