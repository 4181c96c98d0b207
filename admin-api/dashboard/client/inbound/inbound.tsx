/** Screen for inbound routes, which map local parts of the inbound domain to webhook URLs, and for received mail. */
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
