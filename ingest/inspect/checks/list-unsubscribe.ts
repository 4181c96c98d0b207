/** Check 15: whether bulk mail supports one-click unsubscribe. */
import type { Said } from '#core/inspect/report.ts'
import { linkSign, type Facts } from '../facts/mail-facts.ts'
import { valueOf } from '../facts/parsed-mail.ts'
import { failedFor, unanswered, type Looked, type Verdict } from './verdict.ts'
import { say, term } from '../sentences/say.ts'

export function checkListUnsubscribe({ mail, bulk, auth }: Facts): Verdict {
  if (bulk.length === 0) return { status: 'na', summary: say('unsubscribe_personal') }
  const list = valueOf(mail.fields, 'list-unsubscribe')
  const post = valueOf(mail.fields, 'list-unsubscribe-post')
  const signs = bulk.filter((sign) => sign !== linkSign)
  const evidence: Looked[] = [
    ...(signs.length > 0 ? [{ label: term('bulk'), value: signs.join(', ') }] : []),
    ...(bulk.includes(linkSign) ? [{ label: term('unsubscribe_link'), value: term('yes') }] : []),
    { label: 'List-Unsubscribe', value: list ?? term('none') },
    { label: 'List-Unsubscribe-Post', value: post ?? term('none') },
  ]
  const uris = [...(list ?? '').matchAll(/<\s*([a-z]+):[^<>]{1,4000}>/gi)].map(([, scheme = '']) => scheme.toLowerCase())
  if (uris.length === 0) {
    const text = say(list === undefined ? 'unsubscribe_missing' : 'unsubscribe_empty')
    return { ...failedFor([{ text, fix: say('fix_unsubscribe') }]), evidence }
  }
  const isOneClick = /^\s*List-Unsubscribe\s*=\s*One-Click\s*$/i.test(post ?? '')
  const warn = (summary: Said, ...fix: readonly Said[]): Verdict => ({ status: 'warn', points: 3, summary, evidence, fix })
  const addPost = isOneClick ? [] : [say('fix_unsubscribe_post')]
  if (!uris.includes('https'))
    return warn(say(uris.includes('http') ? 'unsubscribe_plain' : 'unsubscribe_by_mail'), say('fix_unsubscribe_https'), ...addPost)
  if (!isOneClick) return warn(say('unsubscribe_clicks'), ...addPost)
  const covers = (signed: readonly string[]): boolean => signed.includes('list-unsubscribe') && signed.includes('list-unsubscribe-post')
  if (auth.dkim.some(({ result, signed }) => result === 'pass' && covers(signed)))
    return { status: 'pass', summary: say('unsubscribe_pass'), evidence }
  const silent = auth.dkim.find(({ result, signed }) => result === 'temperror' && covers(signed))
  if (silent) return unanswered(say('silent_dkim_key', { domain: silent.domain }), evidence)
  return warn(say('unsubscribe_unsigned'), say('fix_unsubscribe_sign'))
}
