/** Screens of the service operator: state of the service, organizations, invoices, queue and failing SMTP logins. */
import type { ComponentChildren, JSX } from 'preact'
import { later } from '../app/later.tsx'
import { link } from '../app/location.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './operator-texts.ts'
import { OrganizationList } from './organization-list.tsx'
import { OrganizationPage } from './organization-page.tsx'
import { Logins, System } from './system.tsx'

const Queue = later(() => import('../operator-queue/operator-queue.tsx'))
const Invoices = later(() => import('../operator-billing/invoice-list.tsx'))
const Invoice = later(() => import('../operator-billing/operator-invoice.tsx'))

export default function OperatorScreens({ rest: [area, id, ...more] }: ScreenProps): JSX.Element {
  if (area === 'organizations' && id !== undefined) return <OrganizationPage key={id} id={id} />
  if (area === 'organizations') return <OrganizationList areas={<Areas chosen="organizations" />} />
  if (area === 'queue') return <Queue areas={<Areas chosen="queue" />} rest={id === undefined ? [] : [id, ...more]} />
  if (area === 'invoices') return id === undefined ? <Invoices areas={<Areas chosen="invoices" />} /> : <Invoice key={id} id={id} />
  if (area === 'logins') return <Logins areas={<Areas chosen="logins" />} />
  return <System areas={<Areas chosen="system" />} />
}

const Areas = ({ chosen }: { readonly chosen: 'system' | 'organizations' | 'queue' | 'invoices' | 'logins' }): JSX.Element => {
  const w = texts()
  const entry = (name: typeof chosen, path: string, label: ComponentChildren): JSX.Element => (
    <a href={link(path)} aria-current={name === chosen ? 'page' : undefined}>
      {label}
    </a>
  )
  return (
    <nav class="areas" aria-label={w.areas}>
      {entry('system', '/operator', w.system)}
      {entry('organizations', '/operator/organizations', w.organizations)}
      {entry('queue', '/operator/queue', allTexts().queue)}
      {entry('invoices', '/operator/invoices', w.invoices)}
      {entry('logins', '/operator/logins', w.logins)}
    </nav>
  )
}
