/** Check 1: whether the domain of MAIL FROM lets the client send for it. */
import type { Facts } from '../facts/mail-facts.ts'
import { unanswered, type Verdict } from './verdict.ts'

const lookupsFine = 8
const maxLookups = 10

export function checkSpf({ auth, input, mailFromDomain }: Facts): Verdict {
  const { result, record, lookups, comment } = auth.spf
  const ip = input.session.clientIp
  const evidence = [
    { label: 'Domain', value: mailFromDomain },
    { label: 'Client address', value: ip },
    { label: 'Result', value: result },
    ...(record === '' ? [] : [{ label: 'Record', value: record }]),
    { label: 'DNS lookups', value: `${lookups} of ${maxLookups}` },
  ]
  const allow = `Publish or extend the TXT record of ${mailFromDomain} so that it allows the server that sends, such as "v=spf1 ip${ip.includes(':') ? '6' : '4'}:${ip} -all".`
  switch (result) {
    case 'temperror':
      return unanswered(`the SPF record of ${mailFromDomain}`, evidence)
    case 'pass':
      return { ...passVerdict(mailFromDomain, record, lookups), evidence }
    case 'softfail':
    case 'neutral': {
      const summary = `${mailFromDomain} does not say clearly that ${ip} may send for it (${result}).`
      return { status: 'warn', points: 3, summary, evidence, fix: allow }
    }
    case 'none':
      return { status: 'fail', summary: `${mailFromDomain} has no SPF record.`, evidence, fix: allow }
    case 'permerror':
      return {
        status: 'fail',
        summary: `The SPF record of ${mailFromDomain} is broken, so that receivers ignore it.`,
        evidence: [...evidence, { label: 'Problem', value: comment }],
        fix: `Keep exactly one TXT record that begins with v=spf1, correct its syntax, and stay within ${maxLookups} DNS lookups.`,
      }
    default:
      return { status: 'fail', summary: `${mailFromDomain} forbids ${ip} to send for it.`, evidence, fix: allow }
  }
}

function passVerdict(domain: string, record: string, lookups: number): Omit<Verdict, 'evidence'> {
  const warn = (summary: string, fix: string): Omit<Verdict, 'evidence'> => ({ status: 'warn', points: 3, summary, fix })
  if (/(?:^|\s)\+?all(?:\s|$)/i.test(record))
    return warn(`The SPF record of ${domain} allows everybody to send for it.`, 'End the record with -all or ~all in place of +all.')
  if (lookups > lookupsFine)
    return warn(
      `The SPF record of ${domain} needs ${lookups} DNS lookups; beyond ${maxLookups} it stops working.`,
      'Remove includes that are not used any more, or replace them by ip4 and ip6 mechanisms.',
    )
  return { status: 'pass', summary: `${domain} allows the server that delivered the mail.` }
}
