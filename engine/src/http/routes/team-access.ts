import { teamProjects, teamWorkspaces } from "../../contracts/tfe/team-access.ts"
import { implement } from "../implement.ts"

export const teamAccessRoutes = [
  ...implement(teamWorkspaces, {
    list: ({ engine }, { workspaceId }, page) => engine.teamWorkspaces.list(workspaceId, page),
    create: ({ engine }, input) => engine.teamWorkspaces.create(input),
    get: ({ engine }, id) => engine.teamWorkspaces.get(id),
    update: ({ engine }, id, patch) => engine.teamWorkspaces.update(id, patch),
    delete: ({ engine }, id) => engine.teamWorkspaces.delete(id),
  }),
  ...implement(teamProjects, {
    list: ({ engine }, { projectId }, page) => engine.teamProjects.list(projectId, page),
    create: ({ engine }, input) => engine.teamProjects.create(input),
    get: ({ engine }, id) => engine.teamProjects.get(id),
    update: ({ engine }, id, patch) => engine.teamProjects.update(id, patch),
    delete: ({ engine }, id) => engine.teamProjects.delete(id),
  }),
]
