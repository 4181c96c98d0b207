/** Derives a title and a first line from the answers of any form. */
import type { FormSubmission } from '../wire/api.d.ts'

type Said = Pick<FormSubmission, 'reference' | 'answers' | 'files'>

const textIn = ({ answers }: Said, keys: readonly string[]): string =>
  keys
    .map((key) => answers[key])
    .filter((answer) => typeof answer === 'string' && answer.trim() !== '')
    .join(' ')

/** Returns text answers except file ids. */
const texts = ({ answers, files }: Said): string[] =>
  Object.values(answers).filter(
    (answer): answer is string => typeof answer === 'string' && answer.trim() !== '' && !files.some(({ id }) => id === answer),
  )

/** Returns the name, else the address, else the first text, else the reference. */
export function titleOf(submission: Said): string {
  const whole = textIn(submission, ['name']) || textIn(submission, ['full_name'])
  const name = whole || textIn(submission, ['first', 'last']) || textIn(submission, ['first_name', 'last_name'])
  return name || addressOf(submission) || texts(submission)[0]?.slice(0, 120) || submission.reference
}

const addressOf = (submission: Said): string => texts(submission).find((text) => /^\S+@\S+\.\S+$/.test(text)) ?? ''

/** Whether the text is contact data: an address, URL or phone number. */
const isContact = (text: string): boolean => /^\S+@\S+\.\S+$|^https?:\/\/\S+$|^[\d ()+.-]{4,32}$/.test(text)

/** Returns the longest text other than the title. Contact data comes last. */
export function firstLineOf(submission: Said): string {
  const title = titleOf(submission)
  const [longest = ''] = texts(submission)
    .filter((text) => text !== title)
    .toSorted((a, b) => Number(isContact(a)) - Number(isContact(b)) || b.length - a.length)
  return longest.slice(0, 200)
}
