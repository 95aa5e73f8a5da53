package main

import (
	"fmt"
	"strings"

	tfe "github.com/hashicorp/go-tfe"
)

func tagName(tag *tfe.Tag) string { return tag.Name }

func (s *scenario) tagsOf(workspace *tfe.Workspace) []string {
	list, err := s.client.Workspaces.ListTags(s.ctx, workspace.ID, nil)
	succeeds(err)
	return sorted(mapped(list.Items, tagName))
}

func (s *scenario) pool(options *tfe.OrganizationTagsListOptions) []*tfe.OrganizationTag {
	list, err := s.client.OrganizationTags.List(s.ctx, s.organization, options)
	succeeds(err)
	return list.Items
}

func poolNames(tags []*tfe.OrganizationTag) []string {
	return sorted(mapped(tags, func(tag *tfe.OrganizationTag) string { return tag.Name }))
}

func flatTags(s *scenario) {
	var first, second *tfe.Workspace
	s.step("adds tags by name to a workspace, new ones and known ones", func() {
		first, second = s.newWorkspace("first"), s.newWorkspace("second")
		succeeds(s.client.Workspaces.AddTags(s.ctx, first.ID, tfe.WorkspaceAddTagsOptions{Tags: []*tfe.Tag{{Name: "red"}, {Name: "blue"}}}))
		succeeds(s.client.Workspaces.AddTags(s.ctx, first.ID, tfe.WorkspaceAddTagsOptions{Tags: []*tfe.Tag{{Name: "blue"}, {Name: "env:prod_1"}}}))
		equal("the tags", s.tagsOf(first), []string{"blue", "env:prod_1", "red"})
		equal("the tag names", sorted(s.read("first").TagNames), []string{"blue", "env:prod_1", "red"})
	})
	s.step("adds tags by id", func() {
		for _, tag := range s.pool(nil) {
			if tag.Name == "red" {
				succeeds(s.client.Workspaces.AddTags(s.ctx, second.ID, tfe.WorkspaceAddTagsOptions{Tags: []*tfe.Tag{{ID: tag.ID}}}))
			}
		}
		equal("the tags", s.tagsOf(second), []string{"red"})
	})
	s.step("lists the tags of a workspace by page and by a part of the name", func() {
		page, err := s.client.Workspaces.ListTags(s.ctx, first.ID, &tfe.WorkspaceTagListOptions{ListOptions: tfe.ListOptions{PageNumber: 2, PageSize: 2}})
		succeeds(err)
		equal("the items of the page", len(page.Items), 1)
		equal("the total count", page.TotalCount, 3)
		named, err := s.client.Workspaces.ListTags(s.ctx, first.ID, &tfe.WorkspaceTagListOptions{Query: tfe.String("prod")})
		succeeds(err)
		equal("the tags", mapped(named.Items, tagName), []string{"env:prod_1"})
	})
	s.step("shows how many workspaces have a tag", func() {
		counts := map[string]int{}
		for _, tag := range s.pool(nil) {
			counts[tag.Name] = tag.InstanceCount
			equal("the organization", present("organization", tag.Organization).Name, s.organization)
		}
		equal("the counts", counts, map[string]int{"red": 2, "blue": 1, "env:prod_1": 1})
	})
	s.step("searches the tags of an organization, and leaves out those of a workspace", func() {
		equal("what is found", poolNames(s.pool(&tfe.OrganizationTagsListOptions{Query: "re"})), []string{"red"})
		equal("what second has not", poolNames(s.pool(&tfe.OrganizationTagsListOptions{Filter: second.ID})), []string{"blue", "env:prod_1"})
		beyond, err := s.client.OrganizationTags.List(s.ctx, s.organization, &tfe.OrganizationTagsListOptions{ListOptions: tfe.ListOptions{PageNumber: 999, PageSize: 100}})
		succeeds(err)
		equal("the items past the end", len(beyond.Items), 0)
		equal("the total count", beyond.TotalCount, 3)
		equal("the current page", beyond.CurrentPage, 999)
	})
	s.step("puts a tag on several workspaces at once", func() {
		blue := s.pool(&tfe.OrganizationTagsListOptions{Query: "blue"})[0]
		succeeds(s.client.OrganizationTags.AddWorkspaces(s.ctx, blue.ID, tfe.AddWorkspacesToTagOptions{WorkspaceIDs: []string{first.ID, second.ID}}))
		equal("the tags", s.tagsOf(second), []string{"blue", "red"})
		equal("the count", s.pool(&tfe.OrganizationTagsListOptions{Query: "blue"})[0].InstanceCount, 2)
	})
	s.step("removes tags, and nothing for a name that there is not", func() {
		succeeds(s.client.Workspaces.RemoveTags(s.ctx, first.ID, tfe.WorkspaceRemoveTagsOptions{Tags: []*tfe.Tag{{Name: "red"}, {Name: "absent"}}}))
		equal("the tags", s.tagsOf(first), []string{"blue", "env:prod_1"})
	})
	s.step("knows no tag of an unknown id", func() {
		failsWith(s.client.Workspaces.RemoveTags(s.ctx, first.ID, tfe.WorkspaceRemoveTagsOptions{Tags: []*tfe.Tag{{ID: "tag-absent"}}}), tfe.ErrResourceNotFound)
		failsWith(s.client.Workspaces.AddTags(s.ctx, first.ID, tfe.WorkspaceAddTagsOptions{Tags: []*tfe.Tag{{ID: "tag-absent"}}}), tfe.ErrResourceNotFound)
	})
	s.step("refuses a name that is no tag", func() {
		isTrue("it is refused", s.client.Workspaces.AddTags(s.ctx, first.ID, tfe.WorkspaceAddTagsOptions{Tags: []*tfe.Tag{{Name: "not ok!"}}}) != nil)
	})
	s.step("forgets a tag with its last workspace", func() {
		succeeds(s.client.Workspaces.RemoveTags(s.ctx, first.ID, tfe.WorkspaceRemoveTagsOptions{Tags: []*tfe.Tag{{Name: "env:prod_1"}}}))
		equal("the pool", poolNames(s.pool(nil)), []string{"blue", "red"})
	})
	s.step("deletes tags from the organization and from every workspace", func() {
		ids := mapped(s.pool(nil), func(tag *tfe.OrganizationTag) string { return tag.ID })
		succeeds(s.client.OrganizationTags.Delete(s.ctx, s.organization, tfe.OrganizationTagsDeleteOptions{IDs: ids}))
		equal("the pool", len(s.pool(nil)), 0)
		equal("the tags", len(s.tagsOf(first)), 0)
		equal("the tags", len(s.tagsOf(second)), 0)
	})
	s.step("lists a tag among the bindings only once it is bound, too", func() {
		bindingsOf := func() []string {
			bindings, err := s.client.Workspaces.ListTagBindings(s.ctx, first.ID)
			succeeds(err)
			effective, err := s.client.Workspaces.ListEffectiveTagBindings(s.ctx, first.ID)
			succeeds(err)
			equal("the effective bindings", effectivePairs(effective), pairs(bindings))
			return pairs(bindings)
		}
		succeeds(s.client.Workspaces.AddTags(s.ctx, first.ID, tfe.WorkspaceAddTagsOptions{Tags: []*tfe.Tag{{Name: "both"}, {Name: "flat"}}}))
		equal("the bindings", bindingsOf(), []string{})
		_, err := s.client.Workspaces.AddTagBindings(s.ctx, first.ID, tfe.WorkspaceAddTagBindingsOptions{
			TagBindings: []*tfe.TagBinding{{Key: "both"}, {Key: "bound"}},
		})
		succeeds(err)
		equal("the bindings", bindingsOf(), []string{"both=", "bound="})
		equal("the tag names", sorted(s.read("first").TagNames), []string{"both", "flat"})
	})
}

func tagBindings(s *scenario) {
	var workspace *tfe.Workspace
	var project *tfe.Project
	bindingsOf := func() []string {
		bindings, err := s.client.Workspaces.ListTagBindings(s.ctx, workspace.ID)
		succeeds(err)
		return pairs(bindings)
	}
	s.step("binds at create", func() {
		var err error
		project, err = s.client.Projects.Create(s.ctx, s.organization, tfe.ProjectCreateOptions{
			Name: "bound", TagBindings: []*tfe.TagBinding{{Key: "team", Value: "all"}, {Key: "region", Value: "eu"}},
		})
		succeeds(err)
		workspace, err = s.client.Workspaces.Create(s.ctx, s.organization, tfe.WorkspaceCreateOptions{
			Name: tfe.String("bound"), Project: project, TagBindings: []*tfe.TagBinding{{Key: "team", Value: "core"}, {Key: "flag"}},
		})
		succeeds(err)
		equal("the bindings", bindingsOf(), []string{"flag=", "team=core"})
		equal("the tag names", s.read("bound").TagNames, []string{})
	})
	s.step("shows what a workspace inherits, and from where", func() {
		effective, err := s.client.Workspaces.ListEffectiveTagBindings(s.ctx, workspace.ID)
		succeeds(err)
		equal("the bindings", effectivePairs(effective), []string{"flag=", "region=eu", "team=core"})
		for _, binding := range effective {
			from, inherited := binding.Links["inherited-from"]
			equal(binding.Key+" is inherited", inherited, binding.Key == "region")
			if inherited {
				isTrue("it names the project", strings.HasSuffix(fmt.Sprint(from), "/api/v2/projects/"+project.ID))
			}
		}
	})
	s.step("adds bindings and changes values", func() {
		answered, err := s.client.Workspaces.AddTagBindings(s.ctx, workspace.ID, tfe.WorkspaceAddTagBindingsOptions{
			TagBindings: []*tfe.TagBinding{{Key: "team", Value: "edge"}, {Key: "tier", Value: "1"}},
		})
		succeeds(err)
		isTrue("it answers with bindings", len(answered) >= 2)
		equal("the bindings", bindingsOf(), []string{"flag=", "team=edge", "tier=1"})
	})
	s.step("replaces the bindings with values at update", func() {
		_, err := s.client.Workspaces.UpdateByID(s.ctx, workspace.ID, tfe.WorkspaceUpdateOptions{
			TagBindings: []*tfe.TagBinding{{Key: "owner", Value: "me@example.com"}},
		})
		succeeds(err)
		isTrue("owner is bound", strings.Contains(strings.Join(bindingsOf(), " "), "owner=me@example.com"))
		isTrue("team is not", !strings.Contains(strings.Join(bindingsOf(), " "), "team="))
	})
	s.step("refuses more than ten bindings", func() {
		many := make([]*tfe.TagBinding, 11)
		for index := range many {
			many[index] = &tfe.TagBinding{Key: fmt.Sprintf("key%d", index), Value: "v"}
		}
		_, err := s.client.Workspaces.Create(s.ctx, s.organization, tfe.WorkspaceCreateOptions{Name: tfe.String("many"), TagBindings: many})
		failsSaying(err, "cannot exceed 10 bindings per resource")
		_, err = s.client.Workspaces.AddTagBindings(s.ctx, workspace.ID, tfe.WorkspaceAddTagBindingsOptions{TagBindings: many})
		failsSaying(err, "cannot exceed 10 bindings per resource")
	})
	s.step("refuses reserved keys", func() {
		_, err := s.client.Workspaces.AddTagBindings(s.ctx, workspace.ID, tfe.WorkspaceAddTagBindingsOptions{
			TagBindings: []*tfe.TagBinding{{Key: "hcp:mine", Value: "v"}},
		})
		isTrue("it is refused", err != nil)
	})
	s.step("removes all bindings with values, and none that is inherited", func() {
		succeeds(s.client.Workspaces.DeleteAllTagBindings(s.ctx, workspace.ID))
		isTrue("owner is gone", !strings.Contains(strings.Join(bindingsOf(), " "), "owner="))
		effective, err := s.client.Workspaces.ListEffectiveTagBindings(s.ctx, workspace.ID)
		succeeds(err)
		isTrue("region is inherited", strings.Contains(strings.Join(effectivePairs(effective), " "), "region=eu"))
	})
	s.step("knows no bindings of an absent workspace", func() {
		_, err := s.client.Workspaces.ListTagBindings(s.ctx, "ws-absent")
		failsWith(err, tfe.ErrResourceNotFound)
		_, err = s.client.Workspaces.ListEffectiveTagBindings(s.ctx, "ws-absent")
		failsWith(err, tfe.ErrResourceNotFound)
	})
}
