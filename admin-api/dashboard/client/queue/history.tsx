/** Screen for actions on the queue of the organization. */
import type { JSX } from 'preact'
import type { ScreenProps } from '../app/screen-props.ts'
import { ownQueue } from '../queue-side/own-queue.ts'
import { QueueScreens } from './queue.tsx'

export default function QueueHistory({ rest }: ScreenProps): JSX.Element {
  return <QueueScreens side={ownQueue} rest={['acts', ...rest]} />
}
