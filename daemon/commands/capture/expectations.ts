/** Expectations about captured mail: parses one from a line and checks it against the mail. Pure. */

/** The fields of a captured mail that expectations can check. */
export interface CaughtMail {
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  readonly html: string
  /** File names. */
  readonly attachments: readonly string[]
}

const fields = ['to', 'from', 'subject', 'text', 'html', 'attachment'] as const
type Field = (typeof fields)[number]

interface Condition {
  readonly field: Field
  /** True if the field must contain the value, regardless of case; false if it must equal the value. */
  readonly isPart: boolean
  readonly value: string
}

interface Count {
  readonly comparison: '=' | '>=' | '<='
  readonly value: number
}

export interface Expectation {
  /** The `name` term, or the whole line. */
  readonly name: string
  readonly conditions: readonly Condition[]
  readonly count: Count
  /** True if a condition checks a body or an attachment. */
  readonly readsBodies: boolean
}

export interface Verdict {
  readonly name: string
  /** Why the expectation is not met; undefined if it is met. */
  readonly fault: string | undefined
}

/** An invalid expectation; the message gives the reason. */
export class ExpectationUnclear extends Error {}

const term = /\s*([a-z]+)(~=|>=|<=|=)("(?:[^"\\]|\\.)*"|[^\s"=][^\s"]*)(?=\s|$)/y
const usualCount: Count = { comparison: '>=', value: 1 }
const bodies: ReadonlySet<string> = new Set(['text', 'html', 'attachment'])

/** Parses a line such as `to=ada@example.com subject~="Reset your" count=1`. Throws `ExpectationUnclear`. */
export function readExpectation(line: string): Expectation {
  const text = line.trim()
  const terms = termsOf(text)
  const name = terms.find(({ field }) => field === 'name')?.value ?? text
  const counts = terms.filter(({ field }) => field === 'count')
  if (counts.length > 1) throw new ExpectationUnclear(`${text}: count is given twice.`)
  const conditions = terms.filter(({ field }) => field !== 'name' && field !== 'count').map((one) => conditionOf(text, one))
  const count = counts[0] ? countOf(text, counts[0]) : usualCount
  return { name, conditions, count, readsBodies: conditions.some(({ field }) => bodies.has(field)) }
}

/** Parses one expectation a line. Skips empty lines and lines that begin with `#`. */
export const readExpectations = (content: string): Expectation[] =>
  content
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(readExpectation)

/** Checks one expectation against the captured mail. */
export function check({ name, conditions, count }: Expectation, mails: readonly CaughtMail[]): Verdict {
  const found = mails.filter((mail) => conditions.every((condition) => meets(mail, condition))).length
  if (isRight(found, count)) return { name, fault: undefined }
  const wanted = `${comparisonTexts[count.comparison]}${count.value} ${count.value === 1 ? 'message' : 'messages'}`
  return { name, fault: `Expected ${wanted}, found ${found}. ${describeCaught(mails)}` }
}

const comparisonTexts = { '=': 'exactly ', '>=': 'at least ', '<=': 'at most ' } as const
const maxListed = 20

function describeCaught(mails: readonly CaughtMail[]): string {
  if (mails.length === 0) return 'No mail was caught.'
  const listed = mails.slice(0, maxListed).map(({ to, subject }) => `${to.join(', ')}: ${subject}`)
  const more = mails.length > maxListed ? [`and ${mails.length - maxListed} more`] : []
  return `Caught:\n${[...listed, ...more].join('\n')}`
}

interface Term {
  readonly field: string
  readonly operator: string
  readonly value: string
}

function termsOf(text: string): Term[] {
  const terms: Term[] = []
  term.lastIndex = 0
  let end = 0
  for (let found = term.exec(text); found; found = term.exec(text)) {
    const [, field = '', operator = '', written = ''] = found
    const value = written.startsWith('"') ? written.slice(1, -1).replaceAll(/\\(.)/g, '$1') : written
    terms.push({ field, operator, value })
    end = term.lastIndex
  }
  if (end < text.length || terms.length === 0)
    throw new ExpectationUnclear(`${text}: write terms such as to=ada@example.com subject~="Reset your password" count=1.`)
  return terms
}

function conditionOf(text: string, { field, operator, value }: Term): Condition {
  const known = fields.find((name) => name === field)
  if (!known) throw new ExpectationUnclear(`${text}: ${field} is not a field. The fields are ${fields.join(', ')}, name and count.`)
  if (operator !== '=' && operator !== '~=') throw new ExpectationUnclear(`${text}: ${field} needs = or ~=.`)
  const isAddress = known === 'to' || known === 'from'
  if (isAddress && operator === '=' && !/^[^@]+@[^@]+$/.test(value))
    throw new ExpectationUnclear(
      `${text}: ${field}= needs a whole address such as ada@example.com. For a part of an address, use ${field}~=.`,
    )
  return { field: known, isPart: operator === '~=', value }
}

function countOf(text: string, { operator, value }: Term): Count {
  if (operator === '~=' || !/^\d{1,9}$/.test(value)) throw new ExpectationUnclear(`${text}: count needs =, >= or <= and a whole number.`)
  return { comparison: operator as Count['comparison'], value: Number(value) }
}

function meets(mail: CaughtMail, { field, isPart, value }: Condition): boolean {
  const found = field === 'attachment' ? mail.attachments : [mail[field]].flat()
  if (isPart) return found.some((one) => one.toLowerCase().includes(value.toLowerCase()))
  const isAddress = field === 'to' || field === 'from'
  return found.some((one) => (isAddress ? one.toLowerCase() === value.toLowerCase() : one === value))
}

function isRight(found: number, { comparison, value }: Count): boolean {
  if (comparison === '=') return found === value
  return comparison === '>=' ? found >= value : found <= value
}
