/** Inbound routes: whose mail at the inbound domain goes to which webhook, and the mail that came. */
import type { JSX } from 'preact'
import type { ScreenProps } from '../app/screen-props.ts'
import { MailPage } from './mail-page.tsx'
import { RouteList } from './route-list.tsx'
import { RoutePage } from './route-page.tsx'

export default function Inbound({ rest: [routeId, messageId] }: ScreenProps): JSX.Element {
  if (routeId === undefined) return <RouteList />
  if (messageId === undefined) return <RoutePage key={routeId} id={routeId} />
  return <MailPage key={messageId} routeId={routeId} messageId={messageId} />
}
