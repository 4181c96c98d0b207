/** Check 1: whether the domain of MAIL FROM lets the client send for it. */
import type { Said } from '#core/inspect/report.ts'
import type { Facts } from '../facts/mail-facts.ts'
import { unanswered, type Verdict } from './verdict.ts'
import { say, term } from '../sentences/say.ts'

const lookupsFine = 8
const maxLookups = 10

export function checkSpf({ auth, input, mailFromDomain }: Facts): Verdict {
  const { result, record, lookups, comment } = auth.spf
  const ip = input.session.clientIp
  const evidence = [
    { label: term('domain'), value: mailFromDomain },
    { label: term('client'), value: ip },
    { label: term('result'), value: result },
    ...(record === '' ? [] : [{ label: term('record'), value: record }]),
    { label: term('lookups'), value: term('lookups_of', { lookups, max: maxLookups }) },
  ]
  const domain = mailFromDomain
  const allow = say('fix_spf_allow', { domain, record: `v=spf1 ip${ip.includes(':') ? '6' : '4'}:${ip} -all` })
  switch (result) {
    case 'temperror':
      return unanswered(say('silent_spf', { domain }), evidence)
    case 'pass':
      return { ...passVerdict(domain, record, lookups), evidence }
    case 'softfail':
    case 'neutral':
      return { status: 'warn', points: 3, summary: say('spf_unclear', { domain, ip, result }), evidence, fix: allow }
    case 'none':
      return { status: 'fail', summary: say('spf_none', { domain }), evidence, fix: allow }
    case 'permerror':
      return {
        status: 'fail',
        summary: say('spf_broken', { domain }),
        evidence: [...evidence, { label: term('problem'), value: comment }],
        fix: say('fix_spf_one', { max: maxLookups }),
      }
    default:
      return { status: 'fail', summary: say('spf_forbidden', { domain, ip }), evidence, fix: allow }
  }
}

function passVerdict(domain: string, record: string, lookups: number): Omit<Verdict, 'evidence'> {
  const warn = (summary: Said, fix: Said): Omit<Verdict, 'evidence'> => ({ status: 'warn', points: 3, summary, fix })
  if (/(?:^|\s)\+?all(?:\s|$)/i.test(record)) return warn(say('spf_everybody', { domain }), say('fix_spf_end'))
  if (lookups > lookupsFine) return warn(say('spf_lookups', { domain, lookups, max: maxLookups }), say('fix_spf_includes'))
  return { status: 'pass', summary: say('spf_pass', { domain }) }
}
