/** Check 15: whether readers of bulk mail can leave with one click. */
import type { Facts } from '../facts/mail-facts.ts'
import { valueOf } from '../facts/parsed-mail.ts'
import { failedFor, unanswered, type Verdict } from './verdict.ts'

export function checkListUnsubscribe({ mail, bulk, auth }: Facts): Verdict {
  if (bulk.length === 0) return { status: 'na', summary: 'The mail looks like a message to one person, which needs no way to unsubscribe.' }
  const list = valueOf(mail.fields, 'list-unsubscribe')
  const post = valueOf(mail.fields, 'list-unsubscribe-post')
  const evidence = [
    { label: 'Looks like bulk mail', value: bulk.join(', ') },
    { label: 'List-Unsubscribe', value: list ?? '(none)' },
    { label: 'List-Unsubscribe-Post', value: post ?? '(none)' },
  ]
  const fix =
    'Add "List-Unsubscribe: <https://example.com/unsubscribe/…>" and "List-Unsubscribe-Post: List-Unsubscribe=One-Click", and let the DKIM signature cover both.'
  const uris = [...(list ?? '').matchAll(/<\s*([a-z]+):[^<>]{1,4000}>/gi)].map(([, scheme = '']) => scheme.toLowerCase())
  if (uris.length === 0) {
    const text =
      list === undefined ? 'Bulk mail without List-Unsubscribe: readers use the spam button instead.' : 'List-Unsubscribe holds no address.'
    return { ...failedFor([{ text, fix }]), evidence }
  }
  const warn = (summary: string): Verdict => ({ status: 'warn', points: 3, summary, evidence, fix })
  if (!uris.includes('https')) return warn('Readers can unsubscribe by mail only; Gmail asks for an https address.')
  if (!/^\s*List-Unsubscribe\s*=\s*One-Click\s*$/i.test(post ?? '')) return warn('Unsubscribing takes more than one click.')
  const covers = (signed: readonly string[]): boolean => signed.includes('list-unsubscribe') && signed.includes('list-unsubscribe-post')
  if (auth.dkim.some(({ result, signed }) => result === 'pass' && covers(signed)))
    return { status: 'pass', summary: 'Readers can unsubscribe with one click.', evidence }
  if (auth.dkim.some(({ result, signed }) => result === 'temperror' && covers(signed))) return unanswered('the DKIM key', evidence)
  return warn('No valid DKIM signature covers List-Unsubscribe and List-Unsubscribe-Post, so that Gmail does not believe them.')
}
