/** Disk space of content on its way in, which is written before anybody knows whether it is accepted. */

/** What content that is not accepted yet takes of the disk. */
export interface DraftRoom {
  /** Counts bytes that are about to be written for an owner. Throws when there is no room for them. */
  take(owner: string, bytes: number): void
  /** Their content is accepted, or is none any more. */
  release(owner: string, bytes: number): void
  /** They were deleted. Their space comes back when the store collects it. */
  removed(bytes: number): void
}

export const unboundedRoom: DraftRoom = { take() {}, release() {}, removed() {} }
