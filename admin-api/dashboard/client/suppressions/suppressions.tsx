/** Screen for suppressions of the organization with reason and expiry. */
import type { JSX } from 'preact'
import { call, save } from '../app/api.ts'
import { link, linkHere, query } from '../app/location.ts'
import { mayAdminister } from '../app/permissions.ts'
import { textOrNull } from '../parts/forms.tsx'
import { Moment } from '../parts/list.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { localInput } from '../parts/time.ts'
import { resourceScreen } from '../resource/resource-screen.tsx'
import { texts } from '../texts/texts.ts'
import type { Suppression } from '../wire/api.d.ts'
import { ImportDialog } from './import.tsx'
import { texts as own } from './suppressions-texts.ts'

/** Returns invalid times as text, so that the service rejects them and the field shows its error. */
const timeOf = (typed: string): string | null =>
  typed === '' ? null : Number.isNaN(Date.parse(typed)) ? typed : new Date(typed).toISOString()

/** Returns the request that restores a suppression. Omits a past expiry, which the service would reject. */
const asBefore = ({ email, reason, expires_at: until }: Suppression) => ({
  ...{ email, reason },
  ...(until !== null && Date.parse(until) > Date.now() && { expires_at: until }),
})

const Import = ({ reload }: { readonly reload: () => void }): JSX.Element | false =>
  mayAdminister.value && query.value.get('import') === '1' && <ImportDialog onDone={reload} />

export default resourceScreen({
  path: '/v1/suppressions',
  title: () => texts().suppressions,
  failure: () => texts().suppressionsFailed,
  change: 'admin',
  search: () => texts().searchAddresses,
  filters: [{ name: 'source', label: () => texts().source, values: ['manual', 'import', 'bounce', 'complaint', 'unsubscribe'] }],
  name: ({ email }) => email,
  mark: () => 'suppressed',
  open: ({ email }) => link('/traces', { to: email }),
  columns: [
    { head: () => texts().address, kind: 'name', cell: ({ email }) => email },
    { head: () => texts().origin, kind: 'status', cell: ({ source }) => source },
    { head: () => texts().reason, kind: 'text', cell: ({ reason }) => reason && <SafeText text={reason} /> },
    { head: () => texts().since, kind: 'time', cell: ({ created_at: at }) => <Moment at={at} /> },
    { head: () => texts().expires, kind: 'time', cell: ({ expires_at: at }) => (at === null ? texts().never : <Moment at={at} />) },
  ],
  form: {
    begin: (row?: Suppression) => ({ email: row?.email ?? '', reason: row?.reason ?? '', until: localInput(row?.expires_at ?? null) }),
    fields: [
      { name: 'email', label: () => texts().address, type: 'text', only: 'create' },
      { name: 'reason', label: () => texts().reason, type: 'text' },
      { name: 'until', label: () => own().until, hint: () => own().untilHint, type: 'datetime', wire: 'expires_at' },
    ],
    create: {
      label: () => own().suppressOne,
      body: ({ email, reason, until }) => ({ email, reason: textOrNull(reason), expires_at: timeOf(until) }),
      done: ({ email }) => texts().suppressedNow({ email }),
    },
    update: {
      label: ({ email }) => own().changeNamed({ email }),
      // the control has no seconds, so an unchanged time is not sent
      body: ({ reason, until }, { expires_at: before }) => ({
        reason: textOrNull(reason),
        ...(until !== localInput(before) && { expires_at: timeOf(until) }),
      }),
      done: ({ email }) => own().changed({ email }),
    },
  },
  remove: {
    label: () => texts().remove,
    done: ({ email }) => texts().unsuppressed({ email }),
    how: { undo: (row) => call('POST /v1/suppressions', { body: asBefore(row) }) },
    many: (n) => own().removedAll({ n }),
  },
  tools: [
    {
      label: () => texts().export,
      icon: 'download',
      run: async (filter) => save(await call('/v1/suppressions/export', { query: filter }), 'suppressions.csv'),
    },
    { label: () => own().importButton, icon: 'share', href: () => linkHere({ import: '1', new: '', edit: '' }), isForChanges: true },
  ],
  empty: { title: () => texts().noSuppressions, text: () => texts().noSuppressionsText },
  below: Import,
})
