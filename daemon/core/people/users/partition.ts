/** Where people are kept: they belong to no organization, so users and login links share a partition, and each user's own things lie under the user's id. */
export const peoplePartition = 'people'
