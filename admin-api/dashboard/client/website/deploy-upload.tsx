/** Uploads an archive as a new deploy and shows the progress. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiFault } from '../app/api.ts'
import { asFault } from '../app/query.ts'
import { upload } from './upload.ts'
import { Gauge } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { bytes, percent } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { DeployLine } from '../websites/deploy-line.tsx'
import { DropPlace } from '../websites/drop-place.tsx'
import { waitingArchive } from '../websites/waiting-archive.ts'
import { texts } from '../websites/websites-texts.ts'
import type { Site } from '../wire/api.d.ts'

interface UploadProps {
  readonly site: Site
  readonly onDone: () => void
}

interface Sending {
  readonly file: File
  readonly share: number
}

export function DeployUpload({ site, onDone }: UploadProps): JSX.Element {
  const w = texts()
  const [activates, setActivates] = useState(true)
  const [sending, setSending] = useState<Sending>()
  const [fault, setFault] = useState<ApiFault>()
  const aborter = useRef<AbortController | undefined>(undefined)
  const send = async (file: File): Promise<void> => {
    const stopping = new AbortController()
    aborter.current = stopping
    setFault(undefined)
    setSending({ file, share: 0 })
    const input = { path: { id: site.id }, query: { activate: activates } }
    const options = { file, type: 'application/zip', signal: stopping.signal, onProgress: (share: number) => setSending({ file, share }) }
    try {
      const { files } = await upload('POST /v1/sites/{id}/deploys', input, options)
      toast(activates ? `${w.deployed({ files })} ${w.activated}` : w.deployed({ files }))
      onDone()
    } catch (error) {
      if (stopping.signal.aborted) toast(w.stopped)
      else setFault(asFault(error))
    }
    setSending(undefined)
  }
  useEffect(() => {
    const waiting = waitingArchive.value
    if (waiting?.siteId !== site.id) return
    waitingArchive.value = undefined
    void send(waiting.file)
  }, [site.id])
  useEffect(() => () => aborter.current?.abort(), [])
  return (
    <div class="deploy-upload">
      {sending ? <Progress sending={sending} onStop={() => aborter.current?.abort()} /> : <DropPlace onFile={(file) => void send(file)} />}
      <Fault fault={fault} />
      <div class="deploy-ways">
        <label class="check">
          <input type="checkbox" checked={activates} onChange={(event) => setActivates(event.currentTarget.checked)} />
          {w.activateAtOnce}
        </label>
        <div class="deploy-by-line">
          <span class="faint">{w.deployLine}</span>
          <DeployLine slug={site.slug} />
        </div>
      </div>
    </div>
  )
}

function Progress({ sending: { file, share }, onStop }: { readonly sending: Sending; readonly onStop: () => void }): JSX.Element {
  const w = texts()
  const text = share >= 1 ? w.reading : w.uploading({ share: percent(share, 0), sent: bytes(file.size * share), all: bytes(file.size) })
  return (
    <div class="drop-place sending">
      <div
        class="progress"
        role="progressbar"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
        aria-label={file.name}
      >
        <b class="cut">{file.name}</b>
        <Gauge used={share} limit={1} isProgress />
        <p class="faint">{text}</p>
      </div>
      <button class="button" onClick={onStop}>
        {w.stop}
      </button>
    </div>
  )
}
