/** Screen for managed websites: the list, the page of a website and deploy reports. */
import type { JSX } from 'preact'
import type { ScreenProps } from '../app/screen-props.ts'
import { later } from '../app/later.tsx'
import { SiteList } from './site-list.tsx'

const SitePage = later(() => import('../website/site-page.tsx'))
const DeployPage = later(() => import('../website/deploy-page.tsx'))

export default function Websites({ rest: [id, part, deployId] }: ScreenProps): JSX.Element {
  if (id === undefined) return <SiteList />
  if (part === 'deploys' && deployId !== undefined) return <DeployPage key={deployId} id={id} deployId={deployId} />
  return <SitePage key={id} id={id} />
}
