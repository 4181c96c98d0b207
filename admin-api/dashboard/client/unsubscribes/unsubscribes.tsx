/** Screen for mailing list unsubscribes by link, with an action that reverts one on request of the recipient. */
import { link, linkHere } from '../app/location.ts'
import { Moment } from '../parts/list.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { resourceScreen } from '../resource/resource-screen.tsx'
import { texts as common } from '../texts/texts.ts'
import type { Unsubscribe } from '../wire/api.d.ts'
import { texts } from './unsubscribes-texts.ts'

/** Returns the list name. An entry from before the introduction of lists applies to all lists. */
const nameOf = ({ list }: Unsubscribe): string => list ?? texts().everyList

export default resourceScreen({
  path: '/v1/unsubscribes',
  title: () => common().unsubscribes,
  failure: () => texts().failed,
  change: 'admin',
  isOfProject: true,
  search: () => common().searchAddresses,
  filters: [{ name: 'list', label: () => texts().list, hint: () => texts().listHint }],
  name: ({ email }) => email,
  mark: () => 'suppressed',
  open: ({ email }) => link('/traces', { to: email }),
  columns: [
    { head: () => common().address, kind: 'name', cell: ({ email }) => email },
    {
      head: () => texts().list,
      kind: 'text',
      cell: (row) => <SafeText text={nameOf(row)} />,
      to: ({ list }) => (list === null ? undefined : linkHere({ list })),
    },
    {
      head: () => texts().message,
      kind: 'status',
      narrow: 'none',
      cell: ({ trace_id: trace }) => trace !== null && <span class="mono">{trace.slice(0, 8)}</span>,
      to: ({ trace_id: trace }) => (trace === null ? undefined : link(`/traces/${trace}`)),
    },
    { head: () => common().since, kind: 'time', cell: ({ created_at: at }) => <Moment at={at} /> },
  ],
  remove: {
    label: () => texts().undo,
    done: ({ email }) => texts().undone({ email: plain(email) }),
    how: { effects: (row) => [texts().undoEffect({ list: plain(nameOf(row)) }), texts().undoOnlyIfAsked, texts().undoNoWayBack] },
  },
  empty: {
    title: () => texts().none,
    text: () => texts().noneText,
    docs: { href: '/docs/suppressions', label: () => texts().chapter },
  },
})
