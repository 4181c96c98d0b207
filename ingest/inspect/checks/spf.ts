/** Check 1: whether the domain of MAIL FROM authorizes the client. */
import type { Said } from '#core/inspect/report.ts'
import { isSpf, joinedRecords, withoutPassForAll, withTerms } from '#config/mail/spf-record.ts'
import { isPublic, plainAddress } from '../../dns/host-addresses.ts'
import type { Facts } from '../facts/mail-facts.ts'
import { isOwnDomain } from '../facts/ownership.ts'
import { unanswered, type Verdict } from './verdict.ts'
import { say, term } from '../sentences/say.ts'

const lookupsFine = 8
const maxLookups = 10
/** A longer record does not appear in advice, because it would be truncated. */
const maxRecord = 400

export async function checkSpf(facts: Facts): Promise<Verdict> {
  const { auth, input, mailFromDomain: domain } = facts
  const { result, record, lookups, comment } = auth.spf
  const ip = input.session.clientIp
  const evidence = [
    { label: term('domain'), value: domain },
    { label: term('client'), value: ip },
    { label: term('result'), value: result },
    ...(record === '' ? [] : [{ label: term('record'), value: record }]),
    { label: term('lookups'), value: term('lookups_of', { lookups, max: maxLookups }) },
  ]
  const isOpen = result === 'pass' && opensToAll(record)
  const advice = adviceFor(facts, await published(facts), isOpen)
  const fix = isOwnDomain(domain, facts) ? advice : say('fix_foreign_domain', { domain })
  switch (result) {
    case 'temperror':
      return unanswered(say('silent_spf', { domain }), evidence)
    case 'pass':
      if (isOpen) return { status: 'warn', points: 3, summary: say('spf_everybody', { domain }), evidence, fix }
      if (lookups <= lookupsFine) return { status: 'pass', summary: say('spf_pass', { domain }), evidence }
      return { status: 'warn', points: 3, summary: say('spf_lookups', { domain, lookups, max: maxLookups }), evidence, fix }
    case 'softfail':
    case 'neutral':
      return { status: 'warn', points: 3, summary: say('spf_unclear', { domain, ip, result }), evidence, fix }
    case 'none':
      return { status: 'fail', summary: say('spf_none', { domain }), evidence, fix }
    case 'permerror': {
      const problem = [{ label: term('problem'), value: comment }]
      return { status: 'fail', summary: say('spf_broken', { domain }), evidence: [...evidence, ...problem], fix }
    }
    default:
      return { status: 'fail', summary: say('spf_forbidden', { domain, ip }), evidence, fix }
  }
}

/** The SPF records of the domain, each joined to one text. */
async function published({ questions, mailFromDomain }: Facts): Promise<readonly string[]> {
  const answer = await questions.texts(mailFromDomain)
  return answer.kind === 'records' ? answer.records.filter(isSpf) : []
}

/** Advice for the owner of the domain. Terms of the published record are preserved, because they authorize its other senders. */
function adviceFor({ auth: { spf }, input, mailFromDomain: domain }: Facts, records: readonly string[], isOpen: boolean): Said {
  const ip = plainAddress(input.session.clientIp)
  const mechanism = ip !== undefined && isPublic(ip) ? `ip${ip.includes(':') ? '6' : '4'}:${ip}` : undefined
  const [record] = records
  if (records.length > 1) return joinedAdvice(domain, records)
  if (isOpen) return closedAdvice(record, mechanism)
  if (spf.result === 'pass' || spf.lookups > maxLookups) return say('fix_spf_includes')
  if (spf.result === 'permerror') return say('fix_spf_correct', { domain })
  if (mechanism === undefined) return say('fix_spf_public', { domain })
  if (record === undefined) return say('fix_spf_publish', { domain, record: `v=spf1 ${mechanism} ~all` })
  const extended = withTerms(record, [mechanism])
  if (extended.length > maxRecord) return say('fix_spf_insert', { domain, mechanism })
  return say('fix_spf_extend', { domain, mechanism, record: extended })
}

function joinedAdvice(domain: string, records: readonly string[]): Said {
  const [record, count] = [joinedRecords(records), records.length]
  return record.length > maxRecord ? say('fix_spf_one', { domain, count }) : say('fix_spf_join', { domain, count, record })
}

/** Advice for a record that authorizes everyone. The server that sent the mail stays authorized. */
function closedAdvice(record = '', mechanism: string | undefined): Said {
  const closed = withTerms(withoutPassForAll(record), mechanism === undefined ? [] : [mechanism])
  const isShown = mechanism !== undefined && opensToAll(record) && closed.length <= maxRecord
  return isShown ? say('fix_spf_close', { record: closed }) : say('fix_spf_end')
}

const opensToAll = (record: string): boolean => /(?:^|\s)\+?all(?:\s|$)/i.test(record)
