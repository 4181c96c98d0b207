/** Screen for webhook endpoints, and the page of an endpoint. */
import type { JSX } from 'preact'
import type { ScreenProps } from '../app/screen-props.ts'
import { resourceScreen } from '../resource/resource-screen.tsx'
import { endpoints } from './endpoints.tsx'
import { WebhookPage } from './webhook-page.tsx'

const EndpointList = resourceScreen(endpoints)

export default function Webhooks({ rest: [id] }: ScreenProps): JSX.Element {
  return id === undefined ? <EndpointList /> : <WebhookPage id={id} />
}
