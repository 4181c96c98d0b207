/** Sender domains of a destination: those of its default sender and of routing rules that select it. */
import { useAll } from '../app/all.ts'
import { plain } from '../parts/safe-text.tsx'
import { matchOf } from '../routing/rule-order.ts'
import type { Destination } from '../wire/api.d.ts'

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).replace(/>\s*$/, '')

/** Sender pattern of rules that match any sender. */
const any = '*'

export function useFromDomains(project: { readonly project?: string }): (destination: Destination) => string {
  const { read } = useAll('/v1/routing/rules', { query: project })
  return ({ id, from, environment }) => {
    const rules = (read.data ?? []).filter(
      (rule) => rule.destination_id === id || (rule.environment !== null && rule.environment === environment),
    )
    const senders = [...(from === null ? [] : [from]), ...rules.map(matchOf)]
    return [...new Set(senders.map((one) => (one === any ? any : domainOf(plain(one)))))].sort().join(', ')
  }
}
