/** Settings of the chosen project, else of the default project. */
import type { JSX } from 'preact'
import { areProjectsKnown, homeProject } from '../app/projects.ts'
import { Loading, State } from '../parts/states.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { texts } from '../texts/texts.ts'
import { ProjectPage } from './project-page.tsx'
import { texts as own } from './projects-texts.ts'

export default function OwnProject(): JSX.Element {
  const w = texts()
  const project = homeProject()
  if (project) return <ProjectPage key={project.id} id={project.id} isSection />
  return (
    <>
      <TopBar title={w.project} />
      <div class="sheet">{areProjectsKnown.value ? <State title={own().none} text={own().sayText} /> : <Loading />}</div>
    </>
  )
}
